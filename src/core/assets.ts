/** The table's words for assets towards clients, the provider's own towards the provider (`spec/contract.md` §3, §9). */
import type { Context, Op } from '../domain/operations.ts'
import type { Pair, Transaction } from '../domain/swap.ts'
import type { Catalogue } from './catalogue.ts'
import { type Layer, on } from './layer.ts'
import { from, namePair, to, withoutPair, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'
import { resolve } from './resolution.ts'

export function assets(catalogue: Catalogue): Layer {
  const translate = async <Q extends Pair>(op: Op, question: Q, context: Context): Promise<{ asked: Q; names: Pair }> => {
    const resolution = { catalogue, read: () => catalogue.listing(context), needsNetwork: op === 'createTransaction' }
    const source = await resolve(wordsOf(question, from), from, resolution)
    const target = await resolve(wordsOf(question, to), to, resolution)
    return {
      asked: namePair(withoutPair(question), source.words, target.words) as Q,
      names: namePair({}, source.names, target.names),
    }
  }
  const name = async (transaction: Transaction, context: Context): Promise<Transaction> => {
    const source = await recognise(wordsOf(transaction, from), catalogue, context)
    const target = await recognise(wordsOf(transaction, to), catalogue, context)
    return namePair(withoutPair(transaction), source, target) as Transaction
  }
  return on({
    async getRate(request, context, next) {
      const { asked, names } = await translate('getRate', request, context)
      const answer = await next.call('getRate', asked, context)
      return { ...answer, body: { ...withoutPair(answer.body), ...names } }
    },
    async createTransaction(request, context, next) {
      const { asked, names } = await translate('createTransaction', request, context)
      const answer = await next.call('createTransaction', asked, context)
      return { ...answer, body: { ...withoutPair(answer.body), ...names } }
    },
    async getTransaction(request, context, next) {
      const answer = await next.call('getTransaction', request, context)
      return { ...answer, body: await name(answer.body, context) }
    },
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      const items = await Promise.all(answer.body.items.map((item) => name(item, context)))
      return { ...answer, body: { ...answer.body, items } }
    },
  })
}
