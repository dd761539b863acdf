/** Port: the webhooks of accounts and what they are sent, in the ledger (docs/contract.md §18.3). Times are milliseconds since 1970. */

import type { LedgerEntry } from './ledger.ts'

/** `gone`: its receiver has answered 410. One that was removed is not found any more. */
export type WebhookState = 'active' | 'gone'

export interface Webhook {
  readonly id: string
  /** The account: its identity, and its name. */
  readonly owner: string
  readonly account: string
  readonly url: string
  readonly form: string
  /** Encrypted. */
  readonly secret: string
  /** The secret before, which signs too until then. */
  readonly previous?: { readonly secret: string; readonly until: number } | undefined
  readonly state: WebhookState
  readonly createdAt: number
  readonly endedAt?: number | undefined
  /** Since a restore after which no person has confirmed it: nothing is sent to it. */
  readonly heldAt?: number | undefined
}

export interface NewWebhook extends Pick<Webhook, 'id' | 'account' | 'url' | 'form' | 'secret' | 'createdAt'> {}

/** What became of a request to a receiver. */
export interface Attempt {
  readonly at: number
  /** Null: no head of a response came. */
  readonly status: number | null
  readonly ms: number
  /** The first characters of the response; null: none came. */
  readonly body: string | null
  /**
   * Why no head came: a cause of `domain/failure-cause.ts`; `address`: one of the receiver's is not open; `secret`: no key reads it;
   * `event`, `body`: a problem of `ClaimedDelivery`.
   */
  readonly reason?: string | undefined
}

export function isSuccess({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Signs a body and posts it. Never rejects. `id`: the `webhook-id`. */
export type SendWebhook = (webhook: Webhook, id: string, body: string) => Promise<Attempt>

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

export interface Delivery {
  /** The `webhook-id`. */
  readonly id: string
  readonly webhook: string
  /** Tag of the provider, and the transaction's id there. */
  readonly provider: string
  readonly providerId: string
  readonly state: DeliveryState
  /** The oldest first. */
  readonly attempts: readonly Attempt[]
  readonly createdAt: number
  readonly endedAt?: number | undefined
}

/** Encrypts secrets for the ledger, each for its webhook. */
export interface SecretBox {
  /** Whether there is a key. */
  readonly canSeal: boolean
  readonly seal: (secret: string, webhook: string) => string
  /** Undefined: no key reads it. */
  readonly open: (sealed: string, webhook: string) => string | undefined
}

/** How many deliveries of a webhook wait, and how many have failed. */
export interface DeliveryCounts {
  readonly waiting: number
  readonly failed: number
}

export interface DeliveryQuery {
  readonly onlyFailed: boolean
  /** Of the page. */
  readonly size: number
  /** A delivery: only older ones. */
  readonly after?: string | undefined
}

/** The newest first. */
export interface DeliveryPage {
  /** Read as they are asked for, a part at a time. One that is removed meanwhile is left out. */
  readonly parts: AsyncIterable<readonly Delivery[]>
  /** What the next page comes after, if there is one. */
  readonly next: string | undefined
}

/** What waits for a webhook and is to be sent now, by this process. */
export interface ClaimedDelivery {
  readonly id: string
  readonly provider: string
  readonly providerId: string
  /** The same at each attempt. Absent: there is a problem. */
  readonly body?: string
  /** Why there is nothing to send: its event is gone, for good, or its body cannot be written now. */
  readonly problem?: 'event' | 'body'
  /** How often it was tried before. */
  readonly attemptCount: number
  /** Of this claim alone. */
  readonly claim: string
}

/** With the webhook as it is now: it may have another secret since it was read. */
export interface Claims {
  readonly webhook: Webhook
  readonly deliveries: readonly ClaimedDelivery[]
}

/**
 * `delivered`, and `failed` for good: the next one of the transaction follows. `gone`: the receiver wants no more. A number: it is tried again
 * after so many milliseconds. `held`: nothing was tried.
 */
export type DeliveryOutcome = 'delivered' | 'failed' | 'gone' | 'held' | { readonly retryAfterMs: number }

/** A change of a transaction, and the transaction as it is now. */
export interface ToldChange {
  /** When it changed. */
  readonly at: number
  readonly entry: LedgerEntry
  /** Absent where the ledger does not have it any more. */
  readonly latest: LedgerEntry | undefined
}

/** The body for a webhook of this form. `isPayable`: whether it has the deposit address. */
export type EncodeChange = (change: ToldChange, form: string) => { readonly body: string; readonly isPayable: boolean }

/** Of all webhooks that are active. */
export interface DeliveryGauges {
  /** Counted up to 10,000. */
  readonly waiting: number
  /** How long the oldest waits; 0: none does. */
  readonly oldestWaitingMs: number
}

/** For whom a delivery is claimed: longer than an attempt takes, and shorter than a receiver may wait after a kill. */
export const leaseMs = 20_000
/** Requests that one webhook gets at a time, from all processes. */
export const maxAtOnce = 8

/** Each method throws if the store fails, and then has changed nothing. `actor`: the operator, for the audit log. */
export interface WebhookStore {
  /** Undefined: no account has the name. */
  readonly add: (webhook: NewWebhook, actor: string) => Promise<Webhook | undefined>
  /** The oldest first, without those that were removed. */
  readonly list: () => Promise<readonly Webhook[]>
  readonly find: (id: string) => Promise<Webhook | undefined>
  /** Ends it, with all that waits for it. False if there is none. */
  readonly remove: (id: string, at: number, actor: string) => Promise<boolean>
  /** Gives it another secret. The one before signs too until then, unless that is now. False if there is none. */
  readonly rotate: (id: string, secret: string, at: number, until: number, actor: string) => Promise<boolean>
  readonly counts: (id: string) => Promise<DeliveryCounts>
  /** By webhook. One that is missing has none. */
  readonly countsOfAll: () => Promise<ReadonlyMap<string, DeliveryCounts>>
  /** Throws `notFound` where `after` is no delivery of the webhook. */
  readonly deliveries: (webhook: string, query: DeliveryQuery) => Promise<DeliveryPage>

  /** Calls this when there may be deliveries that wait. */
  readonly onNew: (listener: () => void) => void
  /** Webhooks for which something is due. */
  readonly due: () => Promise<readonly Webhook[]>
  /** Takes what is due for a webhook, of each transaction the oldest, so that at most `maxAtOnce` are taken over all processes. Undefined: nothing may be sent now. */
  readonly claim: (webhook: Webhook, encode: EncodeChange) => Promise<Claims | undefined>
  /** Records an attempt. False, without a change, if the claim has ended. */
  readonly finish: (
    webhook: Webhook,
    delivery: ClaimedDelivery,
    attempt: Attempt | undefined,
    outcome: DeliveryOutcome,
  ) => Promise<boolean>
  /** What a person sends again: the webhook, and the bytes. Undefined: there is no such delivery, or its webhook is not active. */
  readonly findToReplay: (
    delivery: string,
    encode: EncodeChange,
  ) => Promise<{ readonly webhook: Webhook; readonly body: string } | undefined>
  /** Adds an attempt beside the queue. One that had failed is delivered by a success. */
  readonly recordReplay: (delivery: string, attempt: Attempt) => Promise<void>
  readonly gauges: () => Promise<DeliveryGauges>
  /** One short step: removes deliveries that ended so long ago, and what is left of removed webhooks. Returns whether there may be more. */
  readonly expire: (keptMs: number) => Promise<boolean>
}
