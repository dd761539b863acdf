/** A cache of a provider's complete currency list (docs/contract.md §3, docs/contract-operators.md §8). */

import { inSlices, maxTimerMs, singleFlight, withDefault, withTimeout } from '../../domain/async.ts'
import { bytesOf, CacheSlot, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { CacheOutcome, Drift } from '../../domain/observation.ts'
import { type Context, gatewayContext, type SwapService, timedUpstream } from '../../domain/service.ts'
import type { Currency } from '../../domain/swap.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import { type CachedCurrencyList, type CurrencyList, parseCurrencyList } from '../assets/currency-list.ts'
import { unclearLines } from '../assets/provider-rows.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import { type CurrencyListStore, CurrencyReading, type ListSource, ListTooLong, rowBytes } from './read-currency-list.ts'

/** Longest wait for a newer list if an old one is available. */
const refreshWaitMs = 300
/** Longest wait of a client for the first list of a provider that has not answered at all. It is read on for the next client. */
const noAnswerMs = 1_800
/** Pause after a failed read: if an old list is available, and for a create without one. */
const createRetryPauseMs = 1_000

/** `ageMs`: the age of a cached list. */
type OnLookup = (outcome: CacheOutcome, ageMs?: number) => void

const ignore = (): void => {}

/** A currency list whose background refresh can be paused. */
interface PausableCurrencyList extends CachedCurrencyList {
  /** While paused, the list is not refreshed in the background. */
  readonly setPaused: (isPaused: boolean) => void
}

/** Serves the list from the cache, and reads it from `service` if it is missing or too old. */
export function cachedCurrencyList(
  upstream: UpstreamScope,
  service: SwapService,
  options: CurrencyListOptions,
): PausableCurrencyList {
  const { naming, cache } = options
  const [lifetimeMs, staleForMs] = [cache.currencies * 1000, cache.staleFor * 1000]
  const snapshot = new RefreshingSnapshot(upstream, service, options)
  const countLookup: OnLookup = (outcome, ageMs) =>
    upstream.observe({ what: 'cache', cache: 'currencies', outcome, ...(ageMs !== undefined && { ageSeconds: ageMs / 1000 }) })
  const isWithin = (list: CurrencyList | undefined, maxAgeMs: number): boolean =>
    list !== undefined && performance.now() - list.fetchedAt < maxAgeMs
  const lookUp = async (context: Context, onLookup: OnLookup, maxAgeMs: number): Promise<CurrencyList> => {
    const beganAt = performance.now()
    if (!snapshot.last && !snapshot.refusal) await snapshot.loadStored()
    const now = performance.now()
    const previous = snapshot.last
    const isFresh = isWithin(previous, lifetimeMs)
    if (previous && (isFresh || (isWithin(previous, maxAgeMs) && now - snapshot.failedAt < retryPauseMs))) {
      onLookup(isFresh ? 'hit' : 'stale', now - previous.fetchedAt)
      return previous
    }
    const { refusal } = snapshot
    if (refusal && !isWithin(previous, maxAgeMs)) throw refusal
    const outcome = snapshot.isRefreshing ? 'shared' : 'miss'
    const refresh = timedUpstream(context, snapshot.refresh(context)).catch((failure: unknown) => {
      // Another process may have stored a newer list meanwhile.
      if (snapshot.last && isWithin(snapshot.last, maxAgeMs)) return snapshot.last
      throw failure
    })
    if (!previous || !isWithin(previous, maxAgeMs)) {
      const first = refresh.finally(() => onLookup(outcome))
      return withTimeout(first, beganAt + noAnswerMs - performance.now(), () => {
        if (!snapshot.isAnswered) throw standardFault('timedOut', { provider: upstream.tag })
        return first
      })
    }
    const list = await withDefault(refresh, refreshWaitMs, previous)
    onLookup(list === previous ? 'stale' : outcome, list === previous ? now - previous.fetchedAt : undefined)
    return list
  }
  const hasFailedWithin = (durationMs: number): boolean => performance.now() - snapshot.failedAt < durationMs
  const lookUpBriefly = (context: Context, maxAgeMs: number): Promise<CurrencyList | undefined> =>
    withDefault(lookUp(context, ignore, maxAgeMs), (context.deadline - performance.now()) / 2, undefined)
  const createMaxAgeMs = Math.max(lifetimeMs, staleForMs)
  return {
    naming,
    read: (context) => lookUp(context, countLookup, lifetimeMs + staleForMs),
    async readAvailable(context) {
      return !snapshot.last && hasFailedWithin(retryPauseMs) ? undefined : lookUpBriefly(context, lifetimeMs + staleForMs)
    },
    async readForCreate(context) {
      const isUnavailable = !isWithin(snapshot.last, createMaxAgeMs) && hasFailedWithin(createRetryPauseMs)
      const list = isUnavailable ? undefined : await lookUpBriefly(context, createMaxAgeMs)
      if (!list) throw noCurrencyList(snapshot.failure)
      return list
    },
    last: () => snapshot.last,
    loadStored: (maxWaitMs) => snapshot.loadStored(maxWaitMs),
    setPaused: (isPaused) => snapshot.setPaused(isPaused),
    close: () => snapshot.close(),
  }
}

function noCurrencyList(cause: Fault | undefined): Fault {
  const message = 'The networks of these coins cannot be confirmed at the moment; please try again soon.'
  return new Fault('unavailable', message, { retryAfter: cause?.retryAfter ?? 1, effect: 'nothingSent', cause })
}

// The last known currency list of a provider, read by this or another process, and its refresh.

interface CurrencyListOptions {
  readonly naming: AssetNaming
  /** Shared store of lists, and the list's key in it. */
  readonly lists: CurrencyListStore
  readonly source: ListSource
  /** In seconds: the lifetime of a list, and how long after it one is used if no newer one can be read. */
  readonly cache: { readonly currencies: number; readonly staleFor: number }
}

/** A list is refreshed in the background after this share of its lifetime, so that no request waits for it. */
const refreshAtShare = 0.8
/** Pause before a failed background read is retried. */
const retryPauseMs = 5_000
/** The same after a list that was too long: it is read in vain. */
const longRetryPauseMs = 60_000
/** A read that the budget or the timeout interrupts goes on where it stopped, but not at this age: the list may have changed (`read-currency-list.test.ts`). */
const maxReadAgeMs = 600_000
/** Longest wait of a request for the store of lists, and pause before it is read again. */
const storeTimeoutMs = 500
const storeRetryPauseMs = 1_000

/** Keeps the last list, and refreshes it on request and in the background. */
class RefreshingSnapshot {
  failure: Fault | undefined
  failedAt = Number.NEGATIVE_INFINITY
  private reading: CurrencyReading | undefined
  private readonly upstream: UpstreamScope
  private readonly service: SwapService
  private readonly options: CurrencyListOptions
  private readonly lifetimeMs: number
  private readonly refreshing = singleFlight((context: Context) => this.fetchList(context))
  private readonly loadingStored = singleFlight(() => this.takeStored())
  private readonly list = new CacheSlot<CurrencyList>(cacheShares.currencyLists)
  /** An interrupted read, to be continued. */
  private readonly unfinished = new CacheSlot<CurrencyReading>(cacheShares.currencyLists)
  private toldUnclear = ''
  private storeReadAt = Number.NEGATIVE_INFINITY
  private readonly save: (list: FetchedList) => void
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private isPaused = false

  constructor(upstream: UpstreamScope, service: SwapService, options: CurrencyListOptions) {
    this.upstream = upstream
    this.service = service
    this.options = options
    this.lifetimeMs = options.cache.currencies * 1000
    this.save = saveLatest(options.lists, options.source)
  }

  /** Undefined also where lists of other providers need the memory more than this one, which is longer. */
  get last(): CurrencyList | undefined {
    return this.list.value
  }

  /** Set for a while after a list that was too long. */
  get refusal(): Fault | undefined {
    const isRecent = performance.now() - this.failedAt < longRetryPauseMs
    return this.failure instanceof ListTooLong && isRecent ? this.failure : undefined
  }

  /** Whether the provider has answered the read that is under way. */
  get isAnswered(): boolean {
    return this.reading?.hasRows ?? false
  }

  get isRefreshing(): boolean {
    return this.refreshing.isRunning()
  }

  /** Concurrent callers share one read. */
  refresh(context: Context): Promise<CurrencyList> {
    return this.refreshing.run(context)
  }

  /** Takes the stored list if it is newer. Never throws. */
  async loadStored(maxWaitMs = storeTimeoutMs): Promise<void> {
    if (!this.loadingStored.isRunning() && performance.now() - this.storeReadAt < storeRetryPauseMs) return
    await withTimeout(this.loadingStored.run(), maxWaitMs, () => {})
  }

  /** While paused, nothing is read in the background. */
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

  private async fetchList(context: Context): Promise<CurrencyList> {
    const { upstream, service, lifetimeMs } = this
    const unfinished = this.unfinished.value
    const refreshing = unfinished ?? new CurrencyReading(upstream.capabilities.pageSize)
    this.unfinished.dropOldest()
    this.reading = refreshing
    try {
      // Whatever the deadline of the caller that started the read.
      const deadline = performance.now() + upstream.timeoutMs
      const { rows, bytes, provider } = await refreshing.finish(service, {
        ...context,
        caller: { address: '' },
        deadline,
        isGatewayCall: true,
      })
      const countDrift = (drift: Drift): void => upstream.observe({ what: 'drift', provider: upstream.tag, field: '_other', drift })
      const fetchedAt = unfinished ? refreshing.beganAt : performance.now()
      const list = { ...(await parseCurrencyList(rows, this.options.naming, countDrift)), provider, fetchedAt }
      if (!this.list.set(list, bytes)) throw new ListTooLong()
      this.tellUnclear(list)
      this.scheduleRefresh(lifetimeMs * refreshAtShare)
      this.save({ rows, fetchedAt })
      upstream.observe({ what: 'currencyList', provider: upstream.tag, isWhole: true })
      return list
    } catch (reason) {
      this.failure = toFailure(reason)
      this.failedAt = performance.now()
      upstream.observe({ what: 'currencyList', provider: upstream.tag, isWhole: false })
      const isYoung = this.failedAt - refreshing.beganAt < maxReadAgeMs
      if (refreshing.hasRows && isYoung && isInterrupted(this.failure)) this.unfinished.set(refreshing, refreshing.bytes)
      await this.loadStored()
      if (this.last || this.unfinished.value) this.scheduleRefresh(this.refusal ? longRetryPauseMs : retryPauseMs)
      throw this.failure
    }
  }

  /** Once, as long as it stays so. */
  private tellUnclear({ unclear }: CurrencyList): void {
    const { tag } = this.upstream
    const messages = unclearLines(unclear)
    const told = messages.join('\n')
    if (told !== '' && told !== this.toldUnclear) this.upstream.observe({ what: 'assetsUnclear', provider: tag, messages })
    this.toldUnclear = told
  }

  private async takeStored(): Promise<void> {
    const { lists, source, naming } = this.options
    try {
      const stored = await lists.loadCurrencies(source)
      const fetchedAt = performance.now() - (stored?.ageMs ?? 0)
      if (!stored || (this.last && this.last.fetchedAt >= fetchedAt)) return
      const content = await parseCurrencyList(stored.rows, naming, () => {})
      const bytes = await bytesOfRows(stored.rows)
      if (this.last && this.last.fetchedAt >= fetchedAt) return
      if (!this.list.set({ ...content, provider: source.provider, fetchedAt }, bytes)) return
      const isFresh = stored.ageMs < this.lifetimeMs
      if (isFresh) this.upstream.observe({ what: 'currencyList', provider: this.upstream.tag, isWhole: true })
      this.scheduleRefresh(this.refreshDelayMs(stored.ageMs, retryPauseMs))
    } catch {
      // Without the store the list is read from the provider.
    } finally {
      this.storeReadAt = performance.now()
    }
  }

  /** Time until a list of this age must be refreshed. */
  private refreshDelayMs(ageMs: number, minMs: number): number {
    return Math.max(minMs, this.lifetimeMs * refreshAtShare - ageMs)
  }

  private scheduleRefresh(delayMs: number): void {
    clearTimeout(this.timer)
    if (this.isClosed || this.isPaused || this.lifetimeMs === 0) return
    const begin = (): void => void this.refresh(gatewayContext(this.upstream.capabilities)).catch(() => {})
    this.timer = setTimeout(begin, Math.min(delayMs, maxTimerMs))
    this.timer.unref()
  }
}

async function bytesOfRows(rows: readonly Currency[]): Promise<number> {
  let bytes = 0
  await inSlices(rows, (row) => {
    bytes += rowBytes + bytesOf(row)
  })
  return bytes
}

/** The list itself was fine: time or budget ran out, or the provider was unavailable or rate-limited. */
function isInterrupted({ kind }: Fault): boolean {
  return kind === 'unavailable' || kind === 'timedOut' || kind === 'limited'
}

/** The gateway itself requests the list, so a 4xx is not the client's error: it becomes `failed`. */
function toFailure(reason: unknown): Fault {
  const fault = Fault.from(reason)
  if (fault.kind !== 'invalid' && fault.kind !== 'notFound') return fault
  const message = "The provider's list of currencies could not be read; please try again later."
  return new Fault('failed', message, { cause: fault, ...(fault.provider !== undefined && { provider: fault.provider }) })
}

interface FetchedList {
  readonly rows: readonly Currency[]
  /** On the clock of `performance.now()`. */
  readonly fetchedAt: number
}

/** Saves lists in the background, one at a time. Of lists that arrive meanwhile only the last is saved. A failure is not retried. */
function saveLatest(lists: CurrencyListStore, source: ListSource): (list: FetchedList) => void {
  let pending: FetchedList | undefined
  let isSaving = false
  const saveAll = async (): Promise<void> => {
    isSaving = true
    while (pending) {
      const { rows, fetchedAt } = pending
      pending = undefined
      await lists.saveCurrencies(source, { rows, ageMs: performance.now() - fetchedAt }).catch(() => {})
    }
    isSaving = false
  }
  return (list) => {
    pending = list
    if (!isSaving) void saveAll()
  }
}
