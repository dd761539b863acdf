/** Verifies that a provider's response is about its request (docs/contract.md §10.3). */
import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap.ts'
import type { AssetNaming } from '../assets/asset-naming.ts'
import { contractsOf, otherTokens } from '../assets/translate-assets.ts'
import { type Layer, mapResponses } from '../layer.ts'
import { contradictedTerms, otherSides, unconfirmedMemos } from '../same-swap.ts'
import type { VerifyCreate } from './creation.ts'

export interface VerifyResponseOptions {
  readonly naming: AssetNaming
  /** A requested memo that the response does not repeat is contradicted. */
  readonly mustConfirmMemos: boolean
}

/**
 * Finds the fields in which the response of a create contradicts its request; `status` if the swap has failed at once. Both have the
 * provider's asset names.
 */
export function verifyResponse({ naming, mustConfirmMemos }: VerifyResponseOptions): VerifyCreate {
  return (response, request, context) => {
    const { body, contradicted: inDetails = [] } = response
    const contradicted = [...new Set([...inDetails, ...contradictionsOf(request, body, naming, context)])]
    const unconfirmed = mustConfirmMemos && contradicted.length === 0 ? unconfirmedMemos(request, body) : []
    const failed = contradicted.length === 0 && hasFailed(body) ? ['status'] : []
    return { ...response, contradicted: [...contradicted, ...unconfirmed, ...failed] }
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

/** Whether the provider says that the swap has failed. */
export function hasFailed({ attention }: Transaction): boolean {
  return attention === 'failed'
}
