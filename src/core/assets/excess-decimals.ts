/** Amounts of a report with more decimals than their network has: they are shown as they are, and counted (docs/contract.md §3). */
import { roundDown } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import type { Pair, Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'
import { assetIn, from, to } from './pair.ts'

export interface ExcessDecimalsOptions extends ProviderLayerOptions {
  readonly table: AssetTable
}

const amounts = [
  { field: 'amountIn', side: from },
  { field: 'amountOut', side: to },
] as const

/** Runs where asset names are the table's. An amount that the gateway derived is not the provider's. */
export function countExcessDecimals({ table, provider, observe }: ExcessDecimalsOptions): Layer {
  const count = (row: Transaction, derived: readonly string[] = [], pair: Pair = row): void => {
    for (const { field, side } of amounts) {
      const amount = derived.includes(field) ? undefined : row[field]
      const decimals = amount && assetIn(pair, side, table)?.decimals
      if (amount && decimals !== undefined && roundDown(amount, decimals) !== undefined)
        observe({ what: 'drift', provider, field, drift: 'excessDecimals' })
    }
  }
  return mapResponses({
    createTransaction: (response, _, { pair }) => {
      count(response.body, response.derived, pair)
      return response
    },
    getTransaction: (response) => {
      count(response.body, response.derived)
      return response
    },
    listTransactions: (response) => {
      for (const row of response.body.items) count(row, response.derived)
      return response
    },
  })
}
