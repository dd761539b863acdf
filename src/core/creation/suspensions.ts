/** A provider's asset whose creates are refused one after the other is taken out of new swaps for a while (docs/contract.md §10.3). */
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { Pair } from '../../domain/swap/swap.ts'
import type { JudgementKind } from '../../domain/telemetry/labels.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { SteadyClock } from '../clock.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'

export interface SuspensionsOptions extends ProviderLayerOptions {
  readonly clock: SteadyClock
}

/** So many mismatches of one kind in a row, with no create between that passed. */
const maxMismatches = 3
const durationMs = 600_000
/** A bound on memory: assets outside of the table count too. */
const maxAssets = 1_000

interface AssetState {
  readonly mismatches: Map<JudgementKind, number>
  until: number
}

/** Of one provider, in one generation of the gateway: a reset makes a new one. A wrong rule of the table costs three orders, not all. */
export class Suspensions {
  private readonly options: SuspensionsOptions
  private readonly assets = new BoundedMap<AssetState>({ maxEntries: maxAssets })

  constructor(options: SuspensionsOptions) {
    this.options = options
  }

  /** A create of this pair was judged; `refused`: the kinds that were refused, none if it passed. `network`: of the deposit. */
  judged(pair: Pair, refused: readonly JudgementKind[], network: string | undefined): void {
    const { provider, clock, observe } = this.options
    const key = depositAsset(pair)
    if (refused.length === 0) {
      this.assets.delete(key)
      return
    }
    const state = this.assets.get(key) ?? this.assets.set(key, { mismatches: new Map(), until: 0 })
    for (const kind of refused) {
      const count = (state.mismatches.get(kind) ?? 0) + 1
      state.mismatches.set(kind, count)
      if (count < maxMismatches) continue
      state.mismatches.clear()
      state.until = clock() + durationMs
      observe({ what: 'suspended', provider, kind, network })
      return
    }
  }

  /** Throws `unavailable` for quotes and creates of a suspended asset: another provider may take them. */
  get layer(): Layer {
    const refuseSuspended = ({ pair = {} }: Context): void => {
      const leftMs = (this.assets.get(depositAsset(pair))?.until ?? 0) - this.options.clock()
      if (leftMs > 0)
        throw standardFault('unavailable', { retryAfter: Math.ceil(leftMs / 1000), noEffect: true, mayFailOver: true })
    }
    return onOperations({
      async getRate(request, context, next) {
        refuseSuspended(context)
        return next.call('getRate', request, context)
      },
      async createTransaction(request, context, next) {
        refuseSuspended(context)
        return next.call('createTransaction', request, context)
      },
    })
  }
}

/** The table's name of the asset that is deposited. */
function depositAsset({ codeFrom, coinFrom, networkFrom }: Pair): string {
  return codeFrom ?? `${coinFrom} ${networkFrom}`
}
