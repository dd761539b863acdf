/** Tells webhooks what has changed (docs/contract.md §18.3): in order for each transaction, at least once, and each receiver apart from the others. */
import type { Observer, WebhookOutcome } from '../../domain/observation.ts'
import { Turns } from '../../domain/turns.ts'
import {
  type Attempt,
  type ClaimedDelivery,
  type DeliveryOutcome,
  type EncodeChange,
  isSuccess,
  leaseMs,
  type SendWebhook,
  type Webhook,
  type WebhookStore,
} from '../ports/webhooks.ts'

/** Before the second attempt, and so on. After the last one it has failed. */
export const retryDelaysMs: readonly number[] = [5_000, 60_000, 600_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000, 48 * 3_600_000]

/** What an attempt may take: with less of its lease left, it is not begun, since another process may be about to. */
const longestAttemptMs = 13_000
const goneStatus = 410
/** However many webhooks are due, clients find the ledger's other connections free. */
const maxLedgerCalls = 4

export interface WebhookDeliveryParts {
  readonly store: Pick<WebhookStore, 'due' | 'claim' | 'finish' | 'onNew'>
  /** Of the configuration in force. */
  readonly send: () => SendWebhook
  readonly encode: () => EncodeChange
  readonly observe: Observer
}

export class WebhookDelivery {
  private readonly parts: WebhookDeliveryParts
  /** Webhooks for which this process claims now, or waits for its turn to; true: once more after that. */
  private readonly claiming = new Map<string, boolean>()
  private readonly ledgerCalls = new Turns(maxLedgerCalls)
  private readonly underWay = new Set<Promise<void>>()
  private looking: Promise<void> | undefined
  private looksAgain = false
  private isStopped = false

  constructor(parts: WebhookDeliveryParts) {
    this.parts = parts
    parts.store.onNew(() => void this.look())
  }

  /** Sends what is due. Resolves when all of it is under way. */
  async look(): Promise<void> {
    if (this.looking) {
      this.looksAgain = true
      return await this.looking
    }
    this.looking = this.lookOnce().catch(() => {}) // counted where it failed; the next look is a second later
    await this.looking
    this.looking = undefined
    if (!this.looksAgain || this.isStopped) return
    this.looksAgain = false
    await this.look()
  }

  /** Claims nothing more, and waits for what is under way, at most so long: the rest is sent again by another process. */
  async stop(maxWaitMs: number): Promise<void> {
    this.isStopped = true
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxWaitMs)
    await Promise.race([promise, this.idle()])
    clearTimeout(timer)
  }

  private async idle(): Promise<void> {
    await this.looking
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay)
  }

  private async lookOnce(): Promise<void> {
    if (this.isStopped) return
    for (const webhook of await this.parts.store.due()) this.track(this.sendDue(webhook))
  }

  private track(work: Promise<void>): void {
    this.underWay.add(work)
    const forget = (): void => void this.underWay.delete(work)
    work.then(forget, forget)
  }

  /** One claim at a time for a webhook, and none waits until another webhook's receiver answers. */
  private async sendDue(webhook: Webhook): Promise<void> {
    if (this.isStopped) return
    if (this.claiming.has(webhook.id)) return void this.claiming.set(webhook.id, true)
    this.claiming.set(webhook.id, false)
    await this.ledgerCalls.run(webhook.owner, () => this.claim(webhook)).catch(() => {})
    const isAgain = this.claiming.get(webhook.id) === true
    this.claiming.delete(webhook.id)
    if (isAgain) await this.sendDue(webhook)
  }

  private async claim(webhook: Webhook): Promise<void> {
    if (this.isStopped) return
    // Whoever asked while it waited has what it wants.
    this.claiming.set(webhook.id, false)
    const leaseEnd = performance.now() + leaseMs
    const claims = await this.parts.store.claim(webhook, this.parts.encode())
    if (claims) for (const delivery of claims.deliveries) this.track(this.deliver(claims.webhook, delivery, leaseEnd))
  }

  private async deliver(webhook: Webhook, delivery: ClaimedDelivery, leaseEnd: number): Promise<void> {
    if (performance.now() + longestAttemptMs > leaseEnd) return
    const { send, store, observe } = this.parts
    const { id: deliveryId, body } = delivery
    const attempt = body === undefined ? notSent(delivery) : await send()(webhook, deliveryId, body)
    const outcome = outcomeOf(attempt, delivery)
    const isHeld = outcome === 'held'
    const isStored = await this.ledgerCalls
      .runFirst(() => store.finish(webhook, delivery, isHeld ? undefined : attempt, outcome))
      .catch(() => false)
    if (!isStored) return
    const { id, account } = webhook
    observe({
      what: 'webhookAttempt',
      outcome: wordOf(outcome),
      webhook: id,
      account,
      why: String(attempt.status ?? attempt.reason),
    })
    if (!isHeld) await this.sendDue(webhook)
  }
}

/** Tried again like one that was sent: another process, of another version, may be able to write it. */
function notSent({ problem = 'body' }: ClaimedDelivery): Attempt {
  return { at: Date.now(), status: null, ms: 0, body: null, reason: problem }
}

function outcomeOf(attempt: Attempt, { attemptCount }: ClaimedDelivery): DeliveryOutcome {
  if (attempt.reason === 'secret') return 'held'
  if (attempt.reason === 'event') return 'failed'
  if (isSuccess(attempt)) return 'delivered'
  if (attempt.status === goneStatus) return 'gone'
  const retryAfterMs = retryDelaysMs[attemptCount]
  return retryAfterMs === undefined ? 'failed' : { retryAfterMs }
}

function wordOf(outcome: DeliveryOutcome): WebhookOutcome {
  return typeof outcome === 'object' ? 'retried' : outcome
}
