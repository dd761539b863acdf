/** Adds the full names of the coins, from the asset table, for forms that have them. */
import type { AssetTable } from '../../domain/asset.ts'
import type { Context, Op } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

export function nameCoins(table: AssetTable): Layer {
  const nameOf = (coin: string | undefined): string | undefined => (coin === undefined ? undefined : table.coin(coin)?.name)
  const named = (row: Transaction): Transaction => ({
    ...row,
    coinNameFrom: nameOf(row.coinFrom),
    coinNameTo: nameOf(row.coinTo),
  })
  const addNames = mapResponses({
    createTransaction: (response) => ({ ...response, body: named(response.body) }),
    getTransaction: (response) => ({ ...response, body: named(response.body) }),
    listTransactions: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(named) } }),
  })
  return (next) => {
    const naming = addNames(next)
    return {
      call: (op, request, context) => (hasNames(op, context) ? naming : next).call(op, request, context),
    }
  }
}

function hasNames(op: Op, { clientCapabilities: client }: Context): boolean {
  return client.responseFields[op].has('coinNameFrom')
}
