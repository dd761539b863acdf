/** Verifies that a provider's response is about its request (docs/contract.md §10.3). */
import { memoOf } from '../../domain/address/same-address.ts'
import { Fault } from '../../domain/faults/fault.ts'
import { sameName } from '../../domain/swap/asset.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { NewTransaction, Pair, Transaction } from '../../domain/swap/swap.ts'
import { assetFromResponse } from '../assets/asset-from-response.ts'
import type { AssetName, AssetNaming } from '../assets/asset-naming.ts'
import { assetNameOf, from, type Side, to } from '../assets/pair.ts'
import { type Layer, onOperations } from '../layer.ts'
import { contradictedTerms, unconfirmedMemos } from './compare-terms.ts'

/**
 * Runs where requests and responses use the provider's names. A quote for another pair throws `unreadable`; the contradicted
 * fields of a create are in `contradicted`. `mustConfirmMemos`: a memo that the response does not repeat is read once from the
 * details, and is contradicted if they lack it too.
 */
export function verifyResponse(naming: AssetNaming, mustConfirmMemos: boolean): Layer {
  const isOtherAsset = (side: Side, requested: Pair, reported: Pair, pair: Pair): boolean => {
    const assetName = assetNameOf(reported, side)
    return !isSame(assetNameOf(requested, side), assetName) && !isExpected(assetName, assetNameOf(pair, side), naming)
  }
  const contradictionsOf = (requested: NewTransaction, reported: Transaction, { pair = {} }: Context): readonly string[] => {
    const assets = [from, to].filter((side) => isOtherAsset(side, requested, reported, pair))
    return [...assets.map(({ coin }) => coin), ...contradictedTerms(requested, reported)]
  }
  return onOperations({
    async getRate(request, context, next) {
      const response = await next.call('getRate', request, context)
      const { body, provider } = response
      if (![from, to].some((side) => isOtherAsset(side, request, body, context.pair ?? {}))) return response
      const message = 'The provider returned a quote for another pair; please try again later.'
      throw new Fault('unreadable', message, { ...(provider !== undefined && { provider }) })
    },
    async createTransaction(request, context, next) {
      const response = await next.call('createTransaction', request, context)
      const contradicted = contradictionsOf(request, response.body, context)
      if (contradicted.length > 0) return { ...response, contradicted }
      const missing = mustConfirmMemos ? unconfirmedMemos(request, response.body) : []
      if (missing.length === 0) return response
      const reported = await detailsOf(response.body.id, context, next)
      if (!reported) return { ...response, contradicted: missing }
      const unconfirmed = missing.filter((field) => unconfirmedMemos(request, reported).includes(field))
      return {
        ...response,
        body: withMemos(response.body, reported),
        contradicted: [...contradictionsOf(request, reported, context), ...unconfirmed],
      }
    },
  })
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

/** A missing field is no difference. */
function isSame(requested: AssetName, reported: AssetName): boolean {
  return (['code', 'coin', 'network'] as const).every((field) => matches(requested[field], reported[field]))
}

function isExpected(reported: AssetName, expected: AssetName, naming: AssetNaming): boolean {
  const resolved = assetFromResponse(reported, naming)
  if (resolved === undefined) return false
  return (['code', 'coin', 'network'] as const).every(
    (field) => expected[field] === undefined || matches(expected[field], resolved[field]),
  )
}

function matches(requested: string | undefined, reported: string | undefined): boolean {
  return reported === undefined || (requested !== undefined && sameName(requested, reported))
}
