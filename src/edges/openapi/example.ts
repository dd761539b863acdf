/** One swap as an example, encoded by the form's own codecs: the examples are exact. */
import { type Amount, toAmount } from '../../domain/amount.ts'
import type { Op } from '../../domain/service.ts'
import { namesByCode } from '../../domain/service.ts'
import type { Currency, NewTransaction, Rate, Transaction } from '../../domain/swap.ts'
import type { Form } from '../../wire/form.ts'
import type { RequestSlot } from '../../wire/request.ts'
import { encodePage } from '../../wire/response-table.ts'
import { parseExact } from './exact-json.ts'

function amount(text: string): Amount {
  const value = toAmount(text)
  if (value === undefined) throw new Error(`${text} is no amount.`)
  return value
}

const pair = { codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' }

const rate: Rate = {
  ...pair,
  amountIn: amount('0.10'),
  amountOut: amount('9425.243471'),
  rate: amount('94262.43724'),
  minAmount: amount('0.0002'),
  maxAmount: amount('0.527'),
  fee: amount('1.000253'),
  rateType: 'float',
}

const newTransaction: NewTransaction = {
  ...pair,
  amountIn: rate.amountIn,
  withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  rateType: 'float',
}

const created: Transaction = {
  ...newTransaction,
  id: 'alpha~1fc8a276-0d22-4969-ac54-d77f2fb69967',
  status: 'wait',
  amountOut: amount('9425.243471'),
  rate: amount('94262.43724'),
  depositAddress: 'bc1qc5ezl2d39qgsv8ed94t7cvcl6chwz663hrgy89',
  createdAt: '2026-11-20T10:24:10.926Z',
  updatedAt: '2026-11-20T10:24:10.926Z',
}

const complete: Transaction = { ...created, status: 'success', updatedAt: '2026-11-20T10:24:19.127Z' }

const coin = { coin: 'USDT', name: 'Tether', icon: 'https://icons.example/usdt.svg', notes: 'Networks: TRX, ETH, BSC' }
const codes: readonly Currency[] = [
  { ...coin, code: 'USDTTRC20', network: 'TRX', depositMin: amount('10'), depositMax: amount('100000') },
  { ...coin, code: 'USDTERC20', network: 'ETH' },
  { ...coin, code: 'USDTBEP20', network: 'BSC' },
]

const responses = { getRate: rate, createTransaction: created, listTransactions: complete, getTransaction: complete }

const requests: Readonly<Record<Op, Readonly<Record<string, unknown>>>> = {
  listCurrencies: { search: 'tether' },
  getRate: { ...pair, amountIn: newTransaction.amountIn },
  createTransaction: { ...newTransaction },
  listTransactions: {},
  getTransaction: { id: created.id },
}

/** An example of a response; amounts keep their digits. */
export function responseExample(op: Op, { operations, page, capabilities }: Form): unknown {
  const { responseCodec, paged, requestCodec } = operations[op]
  const rows: readonly object[] =
    op === 'listCurrencies' ? (namesByCode(capabilities) ? codes : codes.slice(0, 1)) : [responses[op]]
  const encoded = rows.map((row) => responseCodec.encode(row, new Set()))
  if (!paged) return parseExact(encoded.join())
  const size = Number(requestCodec.slots.find(({ field }) => field === 'size')?.defaultValue ?? encoded.length)
  return parseExact(encodePage(page, encoded, { page: 1, size, total: encoded.length }))
}

/** An example of a request field; amounts keep their digits. Undefined if there is none. */
export function requestExample(op: Op, { field, scalar }: RequestSlot): unknown {
  const value = requests[op][field]
  return value === undefined ? undefined : parseExact(scalar.toJson(value))
}
