/** Whether a provider's answer is about what it was asked (`spec/contract.md` §10). */
import { sameName } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Pair } from '../domain/swap.ts'
import { type Layer, on } from './layer.ts'
import type { Naming, Words } from './naming.ts'
import { from, type Side, to, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'
import { contradictedTerms } from './terms.ts'

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
      const contradicted = [...assets.map(({ coin }) => coin), ...contradictedTerms(request, answer.body)]
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
