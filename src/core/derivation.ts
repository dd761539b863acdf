/** Fields of the client's form that the provider's form lacks and that follow from others (docs/contract.md §3). */
import { divide, isPositive, multiplySubtract } from '../domain/amount.ts'
import type { Answer, Op } from '../domain/operations.ts'
import type { Rate, Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { after, type Layer } from './layer.ts'

/** Derives only what the provider's form has no field for: a provider that is silent is not overruled. */
export function derivation(provider: Vocabulary): Layer {
  const lacks = (op: Op, field: string): boolean => !provider.answers[op].has(field)
  // A create is derived from for every client: asked again, the same answer may go out in another form.
  const lacksRate = lacks('createTransaction', 'rate')
  const lacksChange = lacks('createTransaction', 'updatedAt')
  return after({
    getRate: (answer, _, { client }) =>
      lacks('getRate', 'fee') && client.answers.getRate.has('fee') ? add(answer, feeOf(answer.body)) : answer,
    createTransaction: (answer) =>
      add(answer, { ...(lacksRate && rateOf(answer.body)), ...(lacksChange && changeOf(answer.body)) }),
    getTransaction: (answer) => (lacks('getTransaction', 'updatedAt') ? add(answer, changeOf(answer.body)) : answer),
    listTransactions: (answer) => {
      if (!lacks('listTransactions', 'updatedAt') || answer.body.items.length === 0) return answer
      const items = answer.body.items.map((item) => ({ ...item, ...changeOf(item) }))
      return { ...answer, body: { ...answer.body, items }, derived: ['updatedAt'] }
    },
  })
}

function add<O extends Op>(answer: Answer<O>, fields: object): Answer<O> {
  const derived = Object.keys(fields)
  return derived.length === 0 ? answer : { ...answer, body: { ...answer.body, ...fields }, derived }
}

/** What the rate promises and the amount received falls short of; a fee inside the rate is nobody's to know. */
function feeOf({ amountIn, amountOut, rate }: Rate): Pick<Rate, 'fee'> {
  if (rate === undefined || amountOut === undefined) return {}
  const fee = multiplySubtract(amountIn, rate, amountOut)
  return isPositive(fee) ? { fee } : {}
}

function rateOf({ amountIn, amountOut }: Transaction): Pick<Transaction, 'rate'> {
  const rate = amountOut === undefined ? undefined : divide(amountOut, amountIn)
  return rate === undefined ? {} : { rate }
}

/** Never seen to change: last changed when it was created. */
function changeOf({ createdAt, updatedAt }: Transaction): Pick<Transaction, 'updatedAt'> {
  return updatedAt === undefined ? { updatedAt: createdAt } : {}
}
