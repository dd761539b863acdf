/** Whether a provider's answer is about what it was asked (`spec/contract.md` §10). */
import { sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { NewTransaction, Pair, Transaction } from '../domain/swap.ts'
import { type Layer, on } from './layer.ts'
import type { Naming, Words } from './naming.ts'
import { from, type Side, to, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'

/** Stands where questions and answers are in the provider's words. A quote of another pair fails; a create's fields are named. */
export function agreement(naming: Naming): Layer {
  const namesAnother = (side: Side, asked: Pair, told: Pair, pair: Pair): boolean => {
    const words = wordsOf(told, side)
    return !isSame(wordsOf(asked, side), words) && !isMeant(words, wordsOf(pair, side), naming)
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
      const assets = [from, to].filter((side) => namesAnother(side, request, answer.body, context.pair ?? {}))
      const contradicted = [...assets.map(({ coin }) => coin), ...otherTerms(request, answer.body)]
      return contradicted.length === 0 ? answer : { ...answer, contradicted }
    },
  })
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

/** What a create asks for beside its assets and its amount. */
export const terms = ['withdrawalAddress', 'refundAddress', 'withdrawalExtraId', 'refundExtraId', 'rateType'] as const

function otherTerms(asked: NewTransaction, told: Transaction): readonly string[] {
  return terms.filter((term) => Boolean(told[term]) && !sameTerm(asked[term], told[term] as string))
}

/** Hexadecimal addresses carry a checksum in their case, or none. */
export function sameTerm(asked: string | undefined, told: string): boolean {
  return asked === told || (/^0x[0-9a-f]+$/i.test(told) && asked?.toLowerCase() === told.toLowerCase())
}
