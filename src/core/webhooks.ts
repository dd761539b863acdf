/** Port: the webhooks of accounts and what they are sent, in the ledger (docs/contract.md §18). Times are milliseconds since 1970. */

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
  /** Why no head came: a cause of `domain/failure-cause.ts`; `address`: one of the receiver's is not open; `secret`: no key reads it. */
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
  readonly max: number
}

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
  /** The newest first. */
  readonly deliveries: (webhook: string, query: DeliveryQuery) => Promise<readonly Delivery[]>
}
