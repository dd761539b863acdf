/** Fields of the client's form that the provider's form lacks and that follow from others (docs/contract.md §3). */
import { divide, isPositive, multiplySubtract } from '../../domain/amount.ts'
import type { Capabilities } from '../../domain/swap/capabilities.ts'
import type { Op } from '../../domain/swap/operations.ts'
import type { ServiceResponse } from '../../domain/swap/service.ts'
import type { Rate, Transaction } from '../../domain/swap/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** Derives only what the provider's form has no field for: a provider that is silent is not overruled. */
export function deriveFields(provider: Capabilities): Layer {
  const lacks = (op: Op, field: string): boolean => !provider.responseFields[op].has(field)
  // A create is derived from for every client: asked again, the same answer may go out in another form.
  const lacksRate = lacks('createTransaction', 'rate')
  const lacksChange = lacks('createTransaction', 'updatedAt')
  return mapResponses({
    getRate: (response, _, { clientCapabilities: client }) =>
      lacks('getRate', 'fee') && client.responseFields.getRate.has('fee') ? withDerived(response, feeOf(response.body)) : response,
    createTransaction: (response) =>
      withDerived(response, { ...(lacksRate && rateOf(response.body)), ...(lacksChange && changeOf(response.body)) }),
    getTransaction: (response) =>
      lacks('getTransaction', 'updatedAt') ? withDerived(response, changeOf(response.body)) : response,
    listTransactions: (response) => {
      if (!lacks('listTransactions', 'updatedAt') || response.body.items.length === 0) return response
      const items = response.body.items.map((item) => ({ ...item, ...changeOf(item) }))
      return { ...response, body: { ...response.body, items }, derived: ['updatedAt'] }
    },
  })
}

function withDerived<O extends Op>(response: ServiceResponse<O>, fields: object): ServiceResponse<O> {
  const derived = Object.keys(fields)
  return derived.length === 0 ? response : { ...response, body: { ...response.body, ...fields }, derived }
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
