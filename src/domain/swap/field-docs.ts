/** A description of every field of the model, for integrators. */
import type { Op, Request, Row } from './operations.ts'

type Field = { [O in Op]: keyof Request<O> | keyof Row<O> }[Op]

const fieldDocs: Readonly<Record<Field, string>> = {
  id: 'The id of the swap: the tag of the provider that holds it, `~`, and the id that the provider gave. It stays the same when providers are changed.',
  status: 'How far the swap has come.',
  code: 'The code of the coin on its network.',
  coin: 'The ticker of the coin.',
  network: 'The network that the code stands for.',
  name: 'The full name of the coin.',
  icon: 'Where an icon of the coin is.',
  notes:
    'The networks of the coin, the default one first, like `Networks: TRX, ETH`; or what the provider says. Empty where none is known.',
  depositMin: 'The least amount that is taken as a deposit.',
  depositMax: 'The greatest amount that is taken as a deposit.',
  codeFrom: 'The code of the coin that is given.',
  codeTo: 'The code of the coin that is received.',
  coinFrom: 'The ticker of the coin that is given.',
  coinTo: 'The ticker of the coin that is received.',
  networkFrom: 'The network on which the coin is given.',
  networkTo: 'The network on which the coin is received.',
  amountIn: 'The amount that is given, in the coin that is given.',
  amountOut: 'The amount that is received, in the coin that is received: an estimate until the swap is complete.',
  rate: 'How much of the one coin is received for one of the other.',
  minAmount: 'The least amount that can be given.',
  maxAmount: 'The greatest amount that can be given.',
  fee: 'What the swap costs, in the coin that is received.',
  rateType: '`fixed` or `float`.',
  message: 'What the provider has to say instead of an amount, or null.',
  depositAddress: 'Where the coin that is given has to be sent.',
  depositExtraId: 'The memo or tag that has to be sent with the deposit. A deposit without it may be lost.',
  withdrawalAddress: 'Where the coin that is received is sent.',
  withdrawalExtraId: 'The memo or tag for the withdrawal address.',
  refundAddress: 'Where a deposit is sent back to, in the network of the coin that is given.',
  refundExtraId: 'The memo or tag for the refund address.',
  txHashIn: 'The transaction of the deposit on its chain.',
  txHashOut: 'The transaction of the payment on its chain.',
  createdAt: 'When the swap was created, in UTC.',
  updatedAt: 'When its status last changed, in UTC.',
  page: 'Which page, counted from 1. A page behind the last one is empty.',
  size: 'How many rows a page has.',
  search: 'Only coins whose name or code contains this, without regard to case.',
  dateFrom: 'Only swaps created at this moment or later: an RFC 3339 timestamp with its zone, or a date (its whole day in UTC).',
  dateTo: 'Only swaps created at this moment or earlier: an RFC 3339 timestamp with its zone, or a date (its whole day in UTC).',
}

/** Fields that every response has, with any provider. Other fields are omitted if unknown. */
export const alwaysPresent: { readonly [O in Op]: readonly (keyof Row<O>)[] } = {
  listCurrencies: ['code', 'coin', 'name', 'icon', 'notes'],
  getRate: ['codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'amountIn', 'amountOut', 'minAmount', 'maxAmount', 'rateType'],
  createTransaction: [
    ...(['id', 'status', 'codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'amountIn', 'amountOut', 'rateType'] as const),
    ...(['depositAddress', 'withdrawalAddress', 'createdAt'] as const),
  ],
  listTransactions: ['id', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
  getTransaction: ['id', 'status', 'coinFrom', 'coinTo', 'amountIn', 'createdAt'],
}

/** The description of a field; empty if the model has no such field. */
export function describeField(field: string): string {
  return isField(field) ? fieldDocs[field] : ''
}

function isField(field: string): field is Field {
  return field in fieldDocs
}
