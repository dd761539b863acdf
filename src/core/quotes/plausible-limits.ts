/** Limits that cannot be right are unknown: negative ones, and a minimum above the maximum (docs/contract.md §3.2). */
import { implausibleLimit } from '../../domain/fault.ts'
import type { Currency } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'

/** Leaves them out of quotes and of the list of currencies, and counts them. */
export function plausibleLimits({ provider, observe }: ProviderLayerOptions): Layer {
  const count = (field: string): void => observe({ what: 'drift', provider, field, drift: 'implausible' })
  const plausible = (row: Currency): Currency => {
    const field = implausibleLimit({ minAmount: row.depositMin, maxAmount: row.depositMax })
    if (field === undefined) return row
    count(field === 'minAmount' ? 'depositMin' : 'depositMax')
    return { ...row, depositMin: undefined, depositMax: undefined }
  }
  return mapResponses({
    getRate: (response) => {
      const field = implausibleLimit(response.body)
      if (field === undefined) return response
      count(field)
      return { ...response, body: { ...response.body, minAmount: undefined, maxAmount: undefined } }
    },
    listCurrencies: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(plausible) } }),
  })
}
