/** Adds the full names of the coins, from the asset table, for forms that have them. */
import type { AssetTable } from '../../domain/swap/asset.ts'
import type { Transaction } from '../../domain/swap/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

export function nameCoins(table: AssetTable): Layer {
  const named = (row: Transaction): Transaction => {
    const nameOf = (coin: string | undefined): string | undefined => (coin === undefined ? undefined : table.coin(coin)?.name)
    return { ...row, coinNameFrom: nameOf(row.coinFrom), coinNameTo: nameOf(row.coinTo) }
  }
  return mapResponses({
    createTransaction: (response, _, { clientCapabilities: client }) =>
      client.responseFields.createTransaction.has('coinNameFrom') ? { ...response, body: named(response.body) } : response,
    getTransaction: (response, _, { clientCapabilities: client }) =>
      client.responseFields.getTransaction.has('coinNameFrom') ? { ...response, body: named(response.body) } : response,
    listTransactions: (response, _, { clientCapabilities: client }) =>
      client.responseFields.listTransactions.has('coinNameFrom')
        ? { ...response, body: { ...response.body, items: response.body.items.map(named) } }
        : response,
  })
}
