/** One swap as an example, said by a form's own tables: so each form has examples of what it really sends. */
import type { Amount } from '../../domain/amount.ts'
import type { Op } from '../../domain/operations.ts'
import type { Currency, NewTransaction, Rate, Transaction } from '../../domain/swap.ts'
import { namesByCode } from '../../domain/vocabulary.ts'
import { encodePage } from '../../wire/envelope.ts'
import type { Form } from '../../wire/form.ts'
import type { QuestionSlot } from '../../wire/question.ts'
import { exactly } from './exactly.ts'

const amount = (text: string): Amount => text as Amount

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

const asked: NewTransaction = {
  ...pair,
  amountIn: rate.amountIn,
  withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  rateType: 'float',
}

const created: Transaction = {
  ...asked,
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

const answers = { getRate: rate, createTransaction: created, listTransactions: complete, getTransaction: complete }

const questions: Readonly<Record<Op, object>> = {
  listCurrencies: { search: 'tether' },
  getRate: { ...pair, amountIn: asked.amountIn },
  createTransaction: asked,
  listTransactions: {},
  getTransaction: { id: created.id },
}

/** An answer, with its digits. */
export function answerExample(op: Op, { operations, page, vocabulary }: Form): unknown {
  const { answer, paged, question } = operations[op]
  const rows: readonly object[] = op === 'listCurrencies' ? (namesByCode(vocabulary) ? codes : codes.slice(0, 1)) : [answers[op]]
  const said = rows.map((row) => answer.encode(row as Readonly<Record<string, unknown>>, new Set()))
  if (!paged) return exactly(said[0] as string)
  const size = Number(question.slots.find(({ field }) => field === 'size')?.standard ?? said.length)
  return exactly(encodePage(page, said, { page: 1, size, total: said.length }))
}

/** What stands for a field in a question, with its digits; undefined where there is no example. */
export function questionExample(op: Op, { field, notation }: QuestionSlot): unknown {
  const value = (questions[op] as Readonly<Record<string, unknown>>)[field]
  return value === undefined ? undefined : exactly(notation.toJson(value))
}
