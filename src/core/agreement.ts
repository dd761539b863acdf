/** Whether a provider's answer is about what it was asked (docs/contract.md §10.3). */
import { memoOf } from '../domain/address/same-address.ts'
import { sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { NewTransaction, Pair, Transaction } from '../domain/swap.ts'
import { type Layer, on } from './layer.ts'
import type { Naming, Words } from './naming.ts'
import { from, type Side, to, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'
import { contradictedTerms, unconfirmedMemos } from './terms.ts'

/**
 * Stands where questions and answers are in the provider's words. A quote of another pair fails; a create's fields are named.
 * `mustConfirm`: a memo that was sent and that the answer does not repeat is looked up once, and contradicted by silence.
 */
export function agreement(naming: Naming, mustConfirm: boolean): Layer {
  const namesAnother = (side: Side, asked: Pair, told: Pair, pair: Pair): boolean => {
    const words = wordsOf(told, side)
    return !isSame(wordsOf(asked, side), words) && !isMeant(words, wordsOf(pair, side), naming)
  }
  const contradictionsOf = (asked: NewTransaction, told: Transaction, { pair = {} }: Context): readonly string[] => {
    const assets = [from, to].filter((side) => namesAnother(side, asked, told, pair))
    return [...assets.map(({ coin }) => coin), ...contradictedTerms(asked, told)]
  }
  return on({
    async getRate(request, context, next) {
      const answer = await next.call('getRate', request, context)
      const { body, provider } = answer
      if (![from, to].some((side) => namesAnother(side, request, body, context.pair ?? {}))) return answer
      const message = "The provider's answer was about another pair; please try again later."
      throw new Fault('unreadable', message, { ...(provider !== undefined && { provider }) })
    },
    async createTransaction(request, context, next) {
      const answer = await next.call('createTransaction', request, context)
      const contradicted = contradictionsOf(request, answer.body, context)
      if (contradicted.length > 0) return { ...answer, contradicted }
      const silent = mustConfirm ? unconfirmedMemos(request, answer.body) : []
      if (silent.length === 0) return answer
      const told = await detailsOf(answer.body.id, context, next)
      if (!told) return { ...answer, contradicted: silent }
      const unconfirmed = silent.filter((field) => unconfirmedMemos(request, told).includes(field))
      return {
        ...answer,
        body: withMemos(answer.body, told),
        contradicted: [...contradictionsOf(request, told, context), ...unconfirmed],
      }
    },
  })
}

/** Undefined where they are not to be had. */
async function detailsOf(id: string, context: Context, service: SwapService): Promise<Transaction | undefined> {
  const answer = await service.call('getTransaction', { id }, context).catch(() => undefined)
  return answer?.body.id === id ? answer.body : undefined
}

/** The memos that only the details report. */
function withMemos(body: Transaction, details: Transaction): Transaction {
  return {
    ...body,
    withdrawalExtraId: body.withdrawalExtraId ?? memoOf(details.withdrawalAddress, details.withdrawalExtraId),
    refundExtraId: body.refundExtraId ?? memoOf(details.refundAddress, details.refundExtraId),
  }
}

/** What is not said contradicts nothing. */
function isSame(asked: Words, told: Words): boolean {
  return (['code', 'coin', 'network'] as const).every((word) => agree(asked[word], told[word]))
}

function isMeant(told: Words, meant: Words, naming: Naming): boolean {
  const known = recognise(told, naming)
  if (known === undefined) return false
  return (['code', 'coin', 'network'] as const).every((word) => meant[word] === undefined || agree(meant[word], known[word]))
}

function agree(asked: string | undefined, told: string | undefined): boolean {
  return told === undefined || (asked !== undefined && sameName(asked, told))
}
