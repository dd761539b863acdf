/** A provider's currency list as it was last read, here or by another process, and the readings of it. */
import { Fault } from '../domain/fault.ts'
import type { Drift } from '../domain/observation.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import { singleFlight } from '../domain/single-flight.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { withTimeout } from '../domain/with-timeout.ts'
import type { CurrencyLists, ListSource } from './currency-lists.ts'
import { CurrencyReading } from './currency-pages.ts'
import { latestSaver, type ReadList } from './latest-saver.ts'
import { interpret, type Listing } from './listing.ts'
import type { Naming } from './naming.ts'

/** Times in milliseconds. */
export interface CopyOptions {
  readonly service: SwapService
  readonly naming: Naming
  /** What the provider's form can say. */
  readonly said: Vocabulary
  /** Where the list is kept, and under what. */
  readonly lists: CurrencyLists
  readonly source: ListSource
  readonly lifetime: number
  /** How long beyond its lifetime a list serves where no newer one can be read. */
  readonly staleFor: number
  /** Bounds a reading, whoever asked for it first. */
  readonly timeout: number
  readonly drift: (drift: Drift) => void
}

/** After this part of its lifetime a list is read again in the background, so that nobody waits for the next one. */
const earlier = 0.8
/** How soon a reading in the background is tried again that failed. */
const pause = 5_000
/** A reading that was broken off goes on until it is so old, in milliseconds: its list has changed since. */
const longestReading = 600_000
/** How long the store of lists is waited for, and how soon it is asked again. */
const storePatience = 500
const storePause = 1_000
/** A timer takes no more. */
const longestTimer = 2_147_483_647

export class Copy {
  last: Listing | undefined
  failure: Fault | undefined
  failedAt = Number.NEGATIVE_INFINITY
  private readonly options: CopyOptions
  private readonly reading = singleFlight((context: Context) => this.renew(context))
  private readonly recalling = singleFlight(() => this.takeKept())
  /** One that was broken off, to go on. */
  private unfinished: CurrencyReading | undefined
  private recalledAt = Number.NEGATIVE_INFINITY
  private readonly save: (list: ReadList) => void
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(options: CopyOptions) {
    this.options = options
    this.save = latestSaver(options.lists, options.source)
  }

  get isReading(): boolean {
    return this.reading.isRunning()
  }

  /** One reading serves all who ask while it is made. */
  read(context: Context): Promise<Listing> {
    return this.reading.run(context)
  }

  /** Takes over the list that is kept, where it is newer. Waits a short while at most, and fails never. */
  async recall(): Promise<void> {
    if (!this.recalling.isRunning() && performance.now() - this.recalledAt < storePause) return
    await withTimeout(this.recalling.run(), storePatience, () => {})
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private async renew(context: Context): Promise<Listing> {
    const { options } = this
    const { unfinished } = this
    const reading = unfinished ?? new CurrencyReading()
    this.unfinished = undefined
    try {
      const deadline = performance.now() + options.timeout
      const { rows, provider } = await reading.finish(options.service, {
        ...context,
        caller: { address: '' },
        deadline,
        isOwn: true,
      })
      const readAt = unfinished ? reading.beganAt : performance.now()
      this.last = { ...(await interpret(rows, options.naming, options.drift)), provider, readAt }
      this.readAgain(options.lifetime * earlier)
      this.save({ rows, readAt })
      return this.last
    } catch (reason) {
      this.failure = asFailure(reason)
      this.failedAt = performance.now()
      const isYoung = this.failedAt - reading.beganAt < longestReading
      if (reading.hasRows && isYoung && isInterrupted(this.failure)) this.unfinished = reading
      await this.recall()
      if (this.last || this.unfinished) this.readAgain(pause)
      throw this.failure
    }
  }

  private async takeKept(): Promise<void> {
    const { lists, source, naming, lifetime } = this.options
    try {
      const kept = await lists.loadCurrencies(source)
      const readAt = performance.now() - (kept?.ageMs ?? 0)
      if (!kept || (this.last && this.last.readAt >= readAt)) return
      const meaning = await interpret(kept.rows, naming, () => {})
      if (this.last && this.last.readAt >= readAt) return
      this.last = { ...meaning, provider: source.provider, readAt }
      this.readAgain(Math.max(pause, lifetime * earlier - kept.ageMs))
    } catch {
      // What cannot be had from the store is read from the provider.
    } finally {
      this.recalledAt = performance.now()
    }
  }

  private readAgain(after: number): void {
    clearTimeout(this.timer)
    if (this.isClosed || this.options.lifetime === 0) return
    const begin = (): void => void this.read(ownContext(this.options)).catch(() => {})
    this.timer = setTimeout(begin, Math.min(after, longestTimer))
    this.timer.unref()
  }
}

/** Nothing was wrong with the list: there was no time or no budget left to read on, or the provider has had enough for now. */
function isInterrupted({ kind }: Fault): boolean {
  return kind === 'unavailable' || kind === 'timedOut' || kind === 'limited'
}

/** Of nobody's asking: a list belongs to no client. */
function ownContext({ said }: CopyOptions): Context {
  return { requestId: crypto.randomUUID(), caller: { address: '' }, client: said, deadline: Number.POSITIVE_INFINITY }
}

/** The list is the gateway's own question: a refusal of it is not the client's fault. */
function asFailure(reason: unknown): Fault {
  const fault = Fault.from(reason)
  if (fault.kind !== 'invalid' && fault.kind !== 'notFound') return fault
  const message = "The provider's list of currencies could not be read; please try again later."
  return new Fault('failed', message, { cause: fault, ...(fault.provider !== undefined && { provider: fault.provider }) })
}
