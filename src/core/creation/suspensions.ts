/**
 * A provider's asset whose creates are refused one after the other is taken out of new swaps for a while (docs/contract-operators.md §10.3), so
 * that a wrong rule of the table costs three orders, not all. The ledger counts, over all processes; each follows it. While the ledger is lost,
 * what is known holds for its time, and mismatches count once it is back.
 */

import type { AssetTable } from '../../domain/asset.ts'
import { withTimeout } from '../../domain/async.ts'
import { standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Context } from '../../domain/service.ts'
import type { Pair } from '../../domain/swap.ts'
import { assetNameOf, from, type Side, to } from '../assets/asset-naming.ts'
import type { SteadyClock } from '../clock.ts'
import type { Journal } from '../journal.ts'
import { type Layer, onOperations } from '../layer.ts'
import { isOfBothSides, type JudgedAsset, type MismatchStreak, type SuspensionStore, suspendedForMs } from '../mismatch-streaks.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { isSameAsset } from '../same-swap.ts'

const maxReadMs = 3_000

interface Suspended {
  readonly streak: MismatchStreak
  /** On the clock of this process. */
  readonly until: number
}

/** Of the whole process: it survives reloads. Before the first `follow` nothing is suspended. */
export class Suspensions {
  private readonly store: SuspensionStore
  private readonly clock: SteadyClock
  private suspended: readonly Suspended[] = []
  /** Of the last change or look: an earlier look that ends later is out of date. */
  private latest = 0

  constructor(store: SuspensionStore, clock: SteadyClock) {
    this.store = store
    this.clock = clock
  }

  /** Reads them again. Throws where the ledger cannot be read: then those that are known end in their time. */
  async follow(): Promise<void> {
    const number = ++this.latest
    const streaks = await withTimeout(this.store.read(), maxReadMs, () => {
      throw new Error('the ledger does not answer in time')
    })
    if (number === this.latest) this.suspended = streaks.map((streak) => this.begun(streak))
  }

  /** What begins or ends with a result applies to this process at once. */
  listen(journal: Journal, observe: Observer): void {
    journal.on('done', (_intent, _result, judged) => this.end(judged))
    journal.on('mismatched', (_intent, _fields, suspended) => {
      if (suspended.length > 0) this.change([...this.suspended, ...suspended.map((streak) => this.begun(streak))])
      for (const { provider, kind, network } of suspended) observe({ what: 'suspended', provider, kind, network })
    })
  }

  /**
   * Throws `unavailable` for quotes and creates of an asset that is suspended at the provider's account: another provider may take
   * them. Runs where asset names are the provider's.
   */
  layer({ tag: provider, accountTags: tags, table }: ProviderScope): Layer {
    const refuseSuspended = (request: Pair, { pair = {} }: Context): void => {
      if (this.suspended.length === 0) return
      const assets = [from, to].map((side) => swappedAsset(side, { request, pair, provider, table }))
      const own = this.suspended.filter(({ streak }) => isOfSome(streak, tags, assets))
      const left = Math.max(...own.map(({ until }) => until)) - this.clock()
      if (left > 0) throw standardFault('unavailable', { retryAfter: Math.ceil(left / 1000), effect: 'nothingSent' })
    }
    return onOperations({
      async getRate(request, context, next) {
        refuseSuspended(request, context)
        return next.call('getRate', request, context)
      },
      async createTransaction(request, context, next) {
        refuseSuspended(request, context)
        return next.call('createTransaction', request, context)
      },
    })
  }

  private begun(streak: MismatchStreak): Suspended {
    const until = this.clock() + suspendedForMs(streak)
    const known = this.suspended.find((other) => isSameSuspension(other.streak, streak))
    return { streak, until: Math.min(until, known?.until ?? until) }
  }

  private end(judged: readonly JudgedAsset[]): void {
    const [{ tags } = { tags: [] }] = judged
    const others = this.suspended.filter(({ streak }) => !isOfSome(streak, tags, judged))
    if (others.length < this.suspended.length) this.change(others)
  }

  private change(suspended: readonly Suspended[]): void {
    this.latest++
    this.suspended = suspended
  }
}

export interface SwapNames {
  /** With the provider's names. */
  readonly request: Pair
  /** With the table's. */
  readonly pair: Pair
  /** Tag. */
  readonly provider: string
  readonly table: AssetTable
}

/** One asset of a swap, and which streaks are about it. */
export function swappedAsset(
  side: Side,
  { request, pair, provider, table }: SwapNames,
): Pick<JudgedAsset, 'asset' | 'sent' | 'isOf'> {
  const asset = assetNameOf(pair, side)
  const sent = assetNameOf(request, side)
  const isOf = (streak: MismatchStreak): boolean =>
    (side === from || isOfBothSides(streak)) && isSameAsset(streak, { provider, asset, sent }, table)
  return { asset, sent, isOf }
}

function isOfSome(streak: MismatchStreak, tags: readonly string[], assets: readonly Pick<JudgedAsset, 'isOf'>[]): boolean {
  return tags.includes(streak.provider) && assets.some(({ isOf }) => isOf(streak))
}

/** Whether both are one suspension, read at two times. The create that began it is in no other. */
function isSameSuspension(one: MismatchStreak, other: MismatchStreak): boolean {
  return one.kind === other.kind && one.intents.at(-1) === other.intents.at(-1)
}
