/** Counts per provider for the last minute, from observations. Each observation costs one look-up and one addition. */
import type { FailureCause } from '../../domain/failure-cause.ts'
import { breakerStates, type Observation, type Observer } from '../../domain/observation.ts'
import type { Clock } from '../clock.ts'
import type { MirrorCounts } from '../routing/mirror.ts'

const sliceMs = 5_000
const slices = 12
/** Buckets grow by 10 %, starting at one millisecond. */
const growth = Math.log(1.1)

interface Slice {
  /** The number of the slice of time. */
  readonly number: number
  requests: number
  creates: number
  calls: number
  failedCalls: number
  drift: number
  refused: number
  counted: number
  deviations: number
  deviationSum: number
  readonly latency: Map<number, number>
  readonly causes: Map<FailureCause, number>
}

interface ProviderState {
  readonly slices: Slice[]
  readonly breaker: Map<string, string>
  /** `at`: when it was observed. */
  readonly budgetLeft: Map<string, { readonly remaining: number; readonly at: number }>
}

const successful: ReadonlySet<string> = new Set(['done', 'refused', 'limited', 'abandoned'])

/** Counts in slices of 5 s, kept for one minute. */
export class ProviderFigures {
  private readonly clock: Clock
  private readonly providers = new Map<string, ProviderState>()

  /** `clock`: monotonic, in milliseconds. */
  constructor(clock: Clock) {
    this.clock = clock
  }

  readonly observe: Observer = (observation) => {
    switch (observation.what) {
      case 'request':
        return this.addRequest(observation)
      case 'call':
        return this.addCall(observation)
      case 'drift':
        this.slice(observation.provider).drift++
        return
      case 'judgement': {
        const { provider, outcome } = observation
        if (outcome === 'refused' || outcome === 'counted') this.slice(provider)[outcome]++
        return
      }
      case 'quoteDeviation': {
        const slice = this.slice(observation.provider)
        slice.deviations++
        slice.deviationSum += observation.deviation
        return
      }
      case 'breaker':
        this.state(observation.provider).breaker.set(observation.operation, observation.state)
        return
      case 'budget':
        this.state(observation.provider).budgetLeft.set(observation.policy, { remaining: observation.remaining, at: this.clock() })
        return
      default:
    }
  }

  /** The counts of a provider (by tag) for the last minute. */
  counts(provider: string): Omit<ProviderCounts, 'listAgeSeconds' | 'assets'> {
    const state = this.state(provider)
    const current = this.sliceNumber()
    const recent = state.slices.filter(({ number }) => number > current - slices)
    const sum = (of: (slice: Slice) => number): number => recent.reduce((total, slice) => total + of(slice), 0)
    const latency = new Map<number, number>()
    const causes = new Map<FailureCause, number>()
    for (const slice of recent) {
      for (const [bucket, count] of slice.latency) add(latency, bucket, count)
      for (const [cause, count] of slice.causes) add(causes, cause, count)
    }
    const open = [...state.breaker].filter(([, breaker]) => breaker !== breakerStates[0])
    return {
      provider,
      requests: sum(({ requests }) => requests),
      creates: sum(({ creates }) => creates),
      calls: sum(({ calls }) => calls),
      failedCalls: sum(({ failedCalls }) => failedCalls),
      causes: Object.fromEntries(causes),
      drift: sum(({ drift }) => drift),
      judgements: { refused: sum(({ refused }) => refused), counted: sum(({ counted }) => counted) },
      quoteDeviation: { creates: sum(({ deviations }) => deviations), sum: sum(({ deviationSum }) => deviationSum) },
      latency: Object.fromEntries(latency),
      breaker: Object.fromEntries(open),
      budgetLeft: this.budgetLeft(state),
    }
  }

  /** After a minute without a call a budget is full again. */
  private budgetLeft(state: ProviderState): Record<string, number> {
    const recent = [...state.budgetLeft].filter(([, { at }]) => this.clock() - at < sliceMs * slices)
    return Object.fromEntries(recent.map(([policy, { remaining }]) => [policy, remaining]))
  }

  private addRequest({ provider, operation, fault, isReplay }: Extract<Observation, { what: 'request' }>): void {
    if (provider === undefined) return
    const slice = this.slice(provider)
    slice.requests++
    if (operation === 'createTransaction' && !fault && !isReplay) slice.creates++
  }

  private addCall({ provider, outcome, failureCause, seconds }: Extract<Observation, { what: 'call' }>): void {
    const slice = this.slice(provider)
    slice.calls++
    if (!successful.has(outcome)) slice.failedCalls++
    if (failureCause !== undefined) add(slice.causes, failureCause, 1)
    add(slice.latency, bucketOf(seconds * 1000), 1)
  }

  private state(provider: string): ProviderState {
    let state = this.providers.get(provider)
    if (!state) {
      state = { slices: [], breaker: new Map(), budgetLeft: new Map() }
      this.providers.set(provider, state)
    }
    return state
  }

  private slice(provider: string): Slice {
    const { slices: kept } = this.state(provider)
    const number = this.sliceNumber()
    const last = kept.at(-1)
    if (last?.number === number) return last
    const judged = { refused: 0, counted: 0, deviations: 0, deviationSum: 0 }
    const slice = {
      number,
      requests: 0,
      creates: 0,
      calls: 0,
      failedCalls: 0,
      drift: 0,
      ...judged,
      latency: new Map(),
      causes: new Map(),
    }
    kept.push(slice)
    while ((kept[0]?.number ?? number) <= number - slices) kept.shift()
    return slice
  }

  private sliceNumber(): number {
    return Math.floor(this.clock() / sliceMs)
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.round(Math.log(ms) / growth)
}

/** The value of a bucket in milliseconds, to three digits. */
export function latencyOf(bucket: number): number {
  return bucket === 0 ? 0.5 : Number(Math.exp((bucket - 1) * growth).toPrecision(3))
}

// Port: counts of providers per process, for the operator's view over all processes (docs/contract-operators.md §12).

/** Counts of one provider in one process for the last minute. Plain JSON. */
export interface ProviderCounts {
  /** The tag. */
  readonly provider: string
  /** Client requests that were served by it or failed at it. */
  readonly requests: number
  /** Swaps that it has created. */
  readonly creates: number
  /** Calls that were sent. */
  readonly calls: number
  /** Calls without a response, with an unreadable one, a 5xx, or a refused gateway key. */
  readonly failedCalls: number
  /** Why calls found no provider, or no response that can be read; absent in the counts of older processes. */
  readonly causes?: Readonly<Partial<Record<FailureCause, number>>>
  /** Latency of the calls, in buckets of `latencyOf`. */
  readonly latency: BucketCounts
  /** By operation. A missing one is closed. */
  readonly breaker: Readonly<Record<string, string>>
  /** By policy. A missing one was not used in the last minute: it is full. */
  readonly budgetLeft: Readonly<Record<string, number>>
  /** Age of the currency list; null if none was read. */
  readonly listAgeSeconds: number | null
  /** Number of assets in its list. */
  readonly assets: number | null
  readonly drift: number
  /** Judgements of creates by outcome, without those that passed; absent in the counts of older processes. */
  readonly judgements?: JudgementCounts
  readonly quoteDeviation?: DeviationSum
}

export interface JudgementCounts {
  readonly refused: number
  readonly counted: number
}

/** Of what creates promise from the provider's newest quotes, as shares of them. */
interface DeviationSum {
  readonly creates: number
  readonly sum: number
}

export interface ReplicaCounts {
  readonly providers: readonly ProviderCounts[]
  readonly mirror: MirrorCounts | null
}

export interface ReplicaFigures extends ReplicaCounts {
  readonly replica: string
  /** Time since the write. */
  readonly ageMs: number
}

/** Port: counts of all replicas, in the ledger. */
export interface ReplicaFiguresStore {
  /** Replaces the previous counts of this replica. */
  readonly write: (replica: string, counts: ReplicaCounts) => Promise<void>
  /** Deletes the counts of a replica that stops. */
  readonly remove: (replica: string) => Promise<void>
  /** How many replicas but this one wrote within 30 s. */
  readonly countOthers: (replica: string) => Promise<number>
  /** The counts of replicas that wrote within 30 s. */
  readonly read: () => Promise<readonly ReplicaFigures[]>
}

/** Counts of values in buckets that grow by a fixed factor. Can be summed over processes. Plain JSON: bucket to count. */
export type BucketCounts = Readonly<Record<string, number>>

/**
 * The percentile (`share` from 0 to 1) over all counts, by the values of their buckets; null without counts. `order`: of the values,
 * by default the smallest first.
 */
export function percentile(
  counts: readonly BucketCounts[],
  share: number,
  valueIn: (bucket: number) => number,
  order = (one: number, other: number): number => one - other,
): number | null {
  const sums = addCounts(counts)
  const total = [...sums.values()].reduce((sum, count) => sum + count, 0)
  let left = Math.ceil(total * share)
  for (const [bucket, count] of [...sums].sort(([one], [other]) => order(valueIn(one), valueIn(other)))) {
    left -= count
    if (left <= 0) return valueIn(bucket)
  }
  return null
}

export function totalOf(counts: readonly BucketCounts[]): number {
  return [...addCounts(counts).values()].reduce((sum, count) => sum + count, 0)
}

function addCounts(counts: readonly BucketCounts[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (const one of counts) {
    for (const [bucket, count] of Object.entries(one)) sums.set(Number(bucket), (sums.get(Number(bucket)) ?? 0) + count)
  }
  return sums
}
