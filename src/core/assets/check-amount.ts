/** Refuses or rounds amounts that the network cannot carry (docs/contract.md §3). */
import { type Amount, divide, isZero, multiplySubtract, roundDown, stepUp, zero } from '../../domain/amount.ts'
import type { Asset, AssetTable } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import { assetIn, from } from './pair.ts'

export interface CheckAmountOptions {
  readonly table: AssetTable
  /** `routing.roundAmounts` is `down`. */
  readonly isRounded: boolean
}

/**
 * Throws `invalid` for a create whose amount has more significant decimals than its asset in the table, or sends the amount below and
 * names `amountIn` as derived. Needs `context.pair`. Quotes pass.
 */
export function checkAmount({ table, isRounded }: CheckAmountOptions): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const asset = assetIn(context.pair ?? {}, from, table)
      const lower = asset?.decimals === undefined ? undefined : roundDown(request.amountIn, asset.decimals)
      if (!asset || lower === undefined) return next.call('createTransaction', request, context)
      if (!isRounded || isZero(lower)) throw tooManyDecimals(request, asset)
      const rounded = { ...context, quotedAmountOut: proportional(context.quotedAmountOut, lower, request.amountIn) }
      const response = await next.call('createTransaction', { ...request, amountIn: lower }, rounded)
      return { ...response, derived: [...(response.derived ?? []), 'amountIn'] }
    },
  })
}

/** The share of a quote for `quotedIn` that an amount below it has. */
function proportional(quotedOut: Amount | undefined, amountIn: Amount, quotedIn: Amount): Amount | undefined {
  return quotedOut && divide(multiplySubtract(quotedOut, amountIn, zero), quotedIn)
}

function tooManyDecimals({ amountIn }: NewTransaction, { coin, network, decimals = 0 }: Asset): Fault {
  const lower = roundDown(amountIn, decimals) ?? amountIn
  const nearest = [...(isZero(lower) ? [] : [lower]), stepUp(lower, decimals)].join(' or ')
  return new Fault('invalid', `${coin} on the network ${network} has ${decimals} decimals: send ${nearest}`, {
    reason: 'parameter_invalid',
    field: 'amountIn',
    noEffect: true,
    isForEveryProvider: true,
  })
}
