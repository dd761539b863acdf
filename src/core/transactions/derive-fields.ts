/** Computes fields of the client's form that the provider's form lacks, from other fields (docs/contract.md §3). */
import { divide, isPositive, multiplySubtract } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { Fault } from '../../domain/fault.ts'
import { instantsOf, millisecondsOf } from '../../domain/instant.ts'
import type { Capabilities, Context, Op, ServiceResponse } from '../../domain/service.ts'
import { type Attention, isFinal, statusUnderAttention } from '../../domain/status.ts'
import { isMoneySeen, type Rate, type Transaction } from '../../domain/swap.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import type { ObservedTransaction } from './merge-transaction.ts'

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

/** Sets the status of a create to `wait` if the provider's status is unknown (docs/contract.md §3.7). */
export function defaultStatus(): Layer {
  return mapResponses({
    createTransaction: (response) => ({ ...response, body: { ...response.body, status: response.body.status ?? 'wait' } }),
  })
}

/** Returns the response. Throws `unreadable` if no status is known, neither reported now nor stored. */
export function requireStatus(response: ServiceResponse<'getTransaction'>): ServiceResponse<'getTransaction'> {
  if (response.body.status !== undefined) return response
  const message = 'The provider gave a status that is not known; please try again later.'
  throw new Fault('unreadable', message, { ...(response.provider !== undefined && { provider: response.provider }) })
}

// A provider's statuses that need a person, in passthrough mode: clients get them, and nobody here is needed.

/** The report with the status that may be stored: a failed transaction keeps the last known one. */
export function withoutAttention(observed: ObservedTransaction): ObservedTransaction {
  const { reported } = observed
  return reported.attention === undefined
    ? observed
    : { ...observed, reported: storable(reported), ownerAttention: reported.attention }
}

/** The transaction with this attention, unless it has ended. */
export function withAttention(transaction: Transaction, attention: Attention | undefined): Transaction {
  if (attention === undefined || isFinal(transaction.status)) return transaction
  const { status } = transaction
  if (attention === 'unknown_status') return { ...transaction, attention }
  return { ...transaction, status: statusUnderAttention(attention, status, isMoneySeen(transaction)), attention }
}

function storable({ attention, ...transaction }: Transaction): Transaction {
  return attention === 'failed' ? { ...transaction, status: undefined } : transaction
}

// Adds the full names of the coins, from the asset table, for forms that have them.

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

// Until when a provider waits for a deposit, by its own words: an expiry that cannot be right is none (docs/contract.md §3.9).

/** No provider waits longer. */
const longestWaitMs = 60 * 86_400_000

/**
 * Writes `validUntil` as an RFC 3339 timestamp in UTC. One that cannot be read, is not after the creation, or is more than 60 days after
 * it is left out, and counted. A create happens now; a get or a row of a list has its time.
 */
export function plausibleExpiry({ tag: provider, configured, clock, observe }: UpstreamScope): Layer {
  const { timezone } = configured
  const judged = (row: Transaction, timeOfCreation: () => number | undefined): Transaction => {
    const { validUntil } = row
    if (validUntil === undefined) return row
    const at = latestOf(validUntil, timezone)
    const createdAt = timeOfCreation()
    const isPlausible = at !== undefined && createdAt !== undefined && at > createdAt && at - createdAt <= longestWaitMs
    if (isPlausible) return { ...row, validUntil: new Date(at).toISOString() }
    observe({ what: 'drift', provider, field: 'validUntil', drift: 'implausible' })
    return { ...row, validUntil: undefined }
  }
  const reported = (row: Transaction): Transaction => judged(row, () => millisecondsOf(row.createdAt, timezone))
  return mapResponses({
    createTransaction: (response) => ({ ...response, body: judged(response.body, clock) }),
    getTransaction: (response) => ({ ...response, body: reported(response.body) }),
    listTransactions: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(reported) } }),
  })
}

/** In milliseconds. Of two readings of one clock time the later one is safe. */
function latestOf(text: string, timezone?: string): number | undefined {
  const readings = instantsOf(text, timezone).map((instant) => Number(instant / 1_000_000n))
  return readings.length === 0 ? undefined : Math.max(...readings)
}
