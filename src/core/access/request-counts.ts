/**
 * Counts the requests of accounts, by hour, operation and result, and adds them to the ledger every few seconds. Each is written within 5 s, and
 * once.
 */
import { hourOf } from '../../domain/instant.ts'
import type { Observation, RequestEnd } from '../../domain/observation.ts'
import type { CountedRequests, RequestBatch, RequestResult, UsageStore } from '../ports/usage.ts'

/** From a request until it is written. A process that is killed loses these seconds. */
const flushDelayMs = 5_000

export class RequestCounts {
  private readonly store: Pick<UsageStore, 'recordRequests'>
  private readonly writer = crypto.randomUUID()
  private counts = new Map<string, MutableCount>()
  /** What may have been written: it is written as it is until the ledger has it. */
  private unconfirmed: RequestBatch | undefined
  private batches = 0
  private timer: NodeJS.Timeout | undefined
  private flushing: Promise<void> = Promise.resolve()
  private isClosed = false

  constructor(store: Pick<UsageStore, 'recordRequests'>) {
    this.store = store
  }

  observe(observation: Observation): void {
    if (observation.what === 'request') this.note(observation, Date.now())
  }

  private note({ accountId: account, operation, status }: RequestEnd, now: number): void {
    if (account === undefined || operation === undefined) return
    const hour = hourOf(now)
    const result = resultOf(status)
    const key = `${account} ${hour} ${operation} ${result}`
    const known = this.counts.get(key)
    if (known) known.count++
    else this.counts.set(key, { account, hour, operation, result, count: 1 })
    this.flushLater()
  }

  private flushLater(): void {
    if (this.isClosed) return
    this.timer ??= setTimeout(() => {
      this.flushing = this.flush()
        .catch(() => {})
        .then(() => {
          this.timer = undefined
          if (this.unconfirmed || this.counts.size > 0) this.flushLater()
        })
    }, flushDelayMs).unref()
  }

  private async flush(): Promise<void> {
    if (this.unconfirmed) await this.write(this.unconfirmed)
    if (this.counts.size > 0) await this.write(this.take())
  }

  private async write(batch: RequestBatch): Promise<void> {
    this.unconfirmed = batch
    await this.store.recordRequests(batch)
    this.unconfirmed = undefined
  }

  private take(): RequestBatch {
    const counts = [...this.counts.values()]
    this.counts = new Map()
    return { writer: this.writer, number: ++this.batches, counts }
  }

  /** Writes what is not written, once. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await this.flushing
    await this.flush().catch(() => {})
  }
}

type MutableCount = { -readonly [Field in keyof CountedRequests]: CountedRequests[Field] }

function resultOf(status: number): RequestResult {
  if (status === 429) return 'limited'
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'ok'
}
