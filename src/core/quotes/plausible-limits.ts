/** Limits of a quote that cannot be right are unknown: negative ones, and a minimum above the maximum (docs/contract.md §3.2). */
import { type Amount, compareAmounts, isPositive, isZero } from '../../domain/amount.ts'
import type { Rate } from '../../domain/swap/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'

export function plausibleLimits({ provider, observe }: ProviderLayerOptions): Layer {
  return mapResponses({
    getRate: (response) => {
      const field = implausible(response.body)
      if (field === undefined) return response
      observe({ what: 'drift', provider, field, drift: 'implausible' })
      return { ...response, body: { ...response.body, minAmount: undefined, maxAmount: undefined } }
    },
  })
}

/** A maximum of 0 is none. */
function implausible({ minAmount, maxAmount }: Rate): 'minAmount' | 'maxAmount' | undefined {
  if (isNegative(minAmount)) return 'minAmount'
  if (isNegative(maxAmount)) return 'maxAmount'
  if (minAmount === undefined || maxAmount === undefined || isZero(maxAmount)) return undefined
  return compareAmounts(minAmount, maxAmount) > 0 ? 'minAmount' : undefined
}

function isNegative(amount: Amount | undefined): boolean {
  return amount !== undefined && !isPositive(amount) && !isZero(amount)
}
