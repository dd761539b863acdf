/** Verifies that a provider's response is about its request (docs/contract.md §10.3). */
import { memoOf } from '../../domain/address/same-address.ts'
import { Fault } from '../../domain/faults/fault.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap/swap.ts'
import { contractsOf, otherTokens } from '../assets/asset-from-response.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import { type Layer, mapResponses } from '../layer.ts'
import { contradictedTerms, otherSides, unconfirmedMemos } from '../same-swap.ts'
import type { VerifyCreate } from './creation.ts'

export interface VerifyResponseOptions {
  readonly naming: AssetNaming
  /** A memo that the response does not repeat is read once from the details. It is contradicted if they lack it too. */
  readonly mustConfirmMemos: boolean
}

/**
 * Finds the fields in which the response of a create contradicts its request; `status` if the swap has failed at once, and the details do
 * not deny it. Both have the provider's asset names.
 */
export function verifyResponse({ naming, mustConfirmMemos }: VerifyResponseOptions): VerifyCreate {
  return async (response, request, context, provider) => {
    const contradicted = contradictionsOf(request, response.body, naming, context)
    const missing = mustConfirmMemos && contradicted.length === 0 ? unconfirmedMemos(request, response.body) : []
    const failed = contradicted.length === 0 && hasFailed(response.body) ? ['status'] : []
    if (missing.length === 0 && failed.length === 0) return { ...response, contradicted }
    const reported = await detailsOf(response.body.id, context, provider)
    if (!reported) return { ...response, contradicted: [...missing, ...failed] }
    const unconfirmed = missing.filter((field) => unconfirmedMemos(request, reported).includes(field))
    const { status, attention } = failed.length > 0 ? reported : response.body
    return {
      ...response,
      body: { ...withMemos(response.body, reported), status, attention },
      contradicted: [
        ...contradictionsOf(request, reported, naming, context),
        ...unconfirmed,
        ...failed.filter(() => hasFailed(reported)),
      ],
    }
  }
}

/** The fields in which a report of a create contradicts its request. Both have the provider's asset names. */
export function contradictionsOf(
  requested: NewTransaction,
  reported: Transaction,
  naming: AssetNaming,
  { pair }: Pick<Context, 'pair'>,
): readonly string[] {
  const sides = otherSides(requested, reported, naming, pair)
  const others = otherTokens(reported, contractsOf(pair ?? {}, naming))
  return [...sides.map(({ coin }) => coin), ...others, ...contradictedTerms(requested, reported)]
}

/** Throws `unreadable` for a quote for another pair. Runs where asset names are the provider's. */
export function verifyQuote(naming: AssetNaming): Layer {
  return mapResponses({
    getRate: (response, request, { pair }) => {
      const { body, provider } = response
      if (!isOtherPair(request, body, naming, pair)) return response
      const message = 'The provider returned a quote for another pair; please try again later.'
      throw new Fault('unreadable', message, { ...(provider !== undefined && { provider }) })
    },
  })
}

/** Whether the response names other assets than were requested, which are `pair` in the names of the table. */
export function isOtherPair(requested: Pair, reported: Pair, naming: AssetNaming, pair?: Pair): boolean {
  return otherSides(requested, reported, naming, pair).length > 0
}

function hasFailed({ attention }: Transaction): boolean {
  return attention === 'failed'
}

/** Undefined if the details cannot be read. */
async function detailsOf(id: string, context: Context, service: SwapService): Promise<Transaction | undefined> {
  const response = await service.call('getTransaction', { id }, context).catch(() => undefined)
  return response?.body.id === id ? response.body : undefined
}

/** Adds memos that only the details contain. */
function withMemos(body: Transaction, details: Transaction): Transaction {
  return {
    ...body,
    withdrawalExtraId: body.withdrawalExtraId ?? memoOf(details.withdrawalAddress, details.withdrawalExtraId),
    refundExtraId: body.refundExtraId ?? memoOf(details.refundAddress, details.refundExtraId),
  }
}
