/** Computes fields of the client's form that the provider's form lacks, from other fields (docs/contract.md §3). */
import { divide, isPositive, multiplySubtract } from '../../domain/amount.ts'
import type { Capabilities, Op, ServiceResponse } from '../../domain/service.ts'
import type { Rate, Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** Derives only fields that the provider's form does not have. A field that the provider left empty stays empty. */
export function deriveFields(provider: Capabilities): Layer {
  const lacks = (op: Op, field: string): boolean => !provider.responseFields[op].has(field)
  // For every client's form: a repeated create may get the same response in another form.
  const lacksRate = lacks('createTransaction', 'rate')
  const lacksChange = lacks('createTransaction', 'updatedAt')
  const lacksFee = lacks('getRate', 'fee')
  const lacksQuotedRate = lacks('getRate', 'rate')
  return mapResponses({
    getRate: (response, _, { clientCapabilities: client }) => {
      if (lacksQuotedRate) return withDerived(response, rateOf(response.body))
      return lacksFee && client.responseFields.getRate.has('fee') ? withDerived(response, feeOf(response.body)) : response
    },
    createTransaction: (response) =>
      withDerived(response, { ...(lacksRate && rateOf(response.body)), ...(lacksChange && changeOf(response.body)) }),
    ...(lacks('getTransaction', 'updatedAt') && {
      getTransaction: (response) => withDerived(response, changeOf(response.body)),
    }),
    listTransactions: (response) => {
      if (!lacks('listTransactions', 'updatedAt') || response.body.items.length === 0) return response
      const items = response.body.items.map((item) => ({ ...item, ...changeOf(item) }))
      return { ...response, body: { ...response.body, items }, derived: [...(response.derived ?? []), 'updatedAt'] }
    },
  })
}

function withDerived<O extends Op>(response: ServiceResponse<O>, fields: object): ServiceResponse<O> {
  const derived = Object.keys(fields)
  if (derived.length === 0) return response
  return { ...response, body: { ...response.body, ...fields }, derived: [...(response.derived ?? []), ...derived] }
}

/** The rated amount minus the received amount. A fee inside the rate cannot be known. */
function feeOf({ amountIn, amountOut, rate }: Rate): Pick<Rate, 'fee'> {
  if (rate === undefined || amountOut === undefined) return {}
  const fee = multiplySubtract(amountIn, rate, amountOut)
  return isPositive(fee) ? { fee } : {}
}

/** Without a rate of the provider there is no fee beside it. */
function rateOf({ amountIn, amountOut }: Rate | Transaction): Pick<Transaction, 'rate'> {
  const rate = amountOut === undefined ? undefined : divide(amountOut, amountIn)
  return rate === undefined ? {} : { rate }
}

/** Without an observed change, the last change is the creation. */
function changeOf({ createdAt, updatedAt }: Transaction): Pick<Transaction, 'updatedAt'> {
  return updatedAt === undefined ? { updatedAt: createdAt } : {}
}
