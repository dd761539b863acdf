/** A provider's currency list as it was last read, here or by another process, and the readings of it. */
import { Fault } from '../../domain/faults/fault.ts'
import { singleFlight } from '../../domain/single-flight.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { Drift } from '../../domain/telemetry/observation.ts'
import { withTimeout } from '../../domain/with-timeout.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import { type Listing, parseListing } from '../assets/listing.ts'
import type { CurrencyListStore, ListSource } from './currency-list-store.ts'
import { CurrencyReading } from './read-currency-list.ts'
import { type FetchedList, saveLatest } from './save-latest.ts'

/** Times in milliseconds. */
export interface RefreshingSnapshotOptions {
  readonly service: SwapService
  readonly naming: AssetNaming
  /** What the provider's form can say. */
  readonly capabilities: Capabilities
  /** Where the list is kept, and under what. */
  readonly lists: CurrencyListStore
  readonly source: ListSource
  readonly lifetimeMs: number
  /** How long beyond its lifetime a list serves where no newer one can be read. */
  readonly staleForMs: number
  /** Bounds a reading, whoever asked for it first. */
  readonly timeoutMs: number
  readonly drift: (drift: Drift) => void
}

/** After this part of its lifetime a list is read again in the background, so that nobody waits for the next one. */
const refreshAtShare = 0.8
/** How soon a reading in the background is tried again that failed. */
const retryPauseMs = 5_000
/** A reading that was broken off goes on until it is so old, in milliseconds: its list has changed since. */
const longestReading = 600_000
/** How long the store of lists is waited for, and how soon it is asked again. */
const storeTimeoutMs = 500
const storeRetryPauseMs = 1_000
/** A timer takes no more. */
const maxTimerMs = 2_147_483_647

export class RefreshingSnapshot {
  last: Listing | undefined
  failure: Fault | undefined
  failedAt = Number.NEGATIVE_INFINITY
  private readonly options: RefreshingSnapshotOptions
  private readonly refreshing = singleFlight((context: Context) => this.fetchList(context))
  private readonly loadingStored = singleFlight(() => this.takeStored())
  /** One that was broken off, to go on. */
  private unfinished: CurrencyReading | undefined
  private storeReadAt = Number.NEGATIVE_INFINITY
  private readonly save: (list: FetchedList) => void
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private isPaused = false

  constructor(options: RefreshingSnapshotOptions) {
    this.options = options
    this.save = saveLatest(options.lists, options.source)
  }

  get isRefreshing(): boolean {
    return this.refreshing.isRunning()
  }

  /** One reading serves all who ask while it is made. */
  refresh(context: Context): Promise<Listing> {
    return this.refreshing.run(context)
  }

  /** Takes over the list that is kept, where it is newer. Waits a short while at most, and fails never. */
  async loadStored(): Promise<void> {
    if (!this.loadingStored.isRunning() && performance.now() - this.storeReadAt < storeRetryPauseMs) return
    await withTimeout(this.loadingStored.run(), storeTimeoutMs, () => {})
  }

  /** While paused nothing is read in the background. */
  setPaused(isPaused: boolean): void {
    if (isPaused === this.isPaused) return
    this.isPaused = isPaused
    if (isPaused) clearTimeout(this.timer)
    else if (this.last) this.scheduleRefresh(this.refreshDelayMs(performance.now() - this.last.fetchedAt, 0))
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private async fetchList(context: Context): Promise<Listing> {
    const { options } = this
    const { unfinished } = this
    const refreshing = unfinished ?? new CurrencyReading()
    this.unfinished = undefined
    try {
      const deadline = performance.now() + options.timeoutMs
      const { rows, provider } = await refreshing.finish(options.service, {
        ...context,
        caller: { address: '' },
        deadline,
        isGatewayCall: true,
      })
      const fetchedAt = unfinished ? refreshing.beganAt : performance.now()
      this.last = { ...(await parseListing(rows, options.naming, options.drift)), provider, fetchedAt }
      this.scheduleRefresh(options.lifetimeMs * refreshAtShare)
      this.save({ rows, fetchedAt })
      return this.last
    } catch (reason) {
      this.failure = toFailure(reason)
      this.failedAt = performance.now()
      const isYoung = this.failedAt - refreshing.beganAt < longestReading
      if (refreshing.hasRows && isYoung && isInterrupted(this.failure)) this.unfinished = refreshing
      await this.loadStored()
      if (this.last || this.unfinished) this.scheduleRefresh(retryPauseMs)
      throw this.failure
    }
  }

  private async takeStored(): Promise<void> {
    const { lists, source, naming } = this.options
    try {
      const stored = await lists.loadCurrencies(source)
      const fetchedAt = performance.now() - (stored?.ageMs ?? 0)
      if (!stored || (this.last && this.last.fetchedAt >= fetchedAt)) return
      const content = await parseListing(stored.rows, naming, () => {})
      if (this.last && this.last.fetchedAt >= fetchedAt) return
      this.last = { ...content, provider: source.provider, fetchedAt }
      this.scheduleRefresh(this.refreshDelayMs(stored.ageMs, retryPauseMs))
    } catch {
      // What cannot be had from the store is read from the provider.
    } finally {
      this.storeReadAt = performance.now()
    }
  }

  /** Until the list that is there is to be read again. */
  private refreshDelayMs(ageMs: number, minMs: number): number {
    return Math.max(minMs, this.options.lifetimeMs * refreshAtShare - ageMs)
  }

  private scheduleRefresh(delayMs: number): void {
    clearTimeout(this.timer)
    if (this.isClosed || this.isPaused || this.options.lifetimeMs === 0) return
    const begin = (): void => void this.refresh(gatewayContext(this.options)).catch(() => {})
    this.timer = setTimeout(begin, Math.min(delayMs, maxTimerMs))
    this.timer.unref()
  }
}

/** Nothing was wrong with the list: there was no time or no budget left to read on, or the provider has had enough for now. */
function isInterrupted({ kind }: Fault): boolean {
  return kind === 'unavailable' || kind === 'timedOut' || kind === 'limited'
}

/** Of nobody's asking: a list belongs to no client. */
function gatewayContext({ capabilities }: RefreshingSnapshotOptions): Context {
  return {
    requestId: crypto.randomUUID(),
    caller: { address: '' },
    clientCapabilities: capabilities,
    deadline: Number.POSITIVE_INFINITY,
  }
}

/** The list is the gateway's own question: a refusal of it is not the client's fault. */
function toFailure(reason: unknown): Fault {
  const fault = Fault.from(reason)
  if (fault.kind !== 'invalid' && fault.kind !== 'notFound') return fault
  const message = "The provider's list of currencies could not be read; please try again later."
  return new Fault('failed', message, { cause: fault, ...(fault.provider !== undefined && { provider: fault.provider }) })
}
