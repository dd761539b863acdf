/** The table's words for assets towards clients, the provider's own towards the provider (docs/contract.md §3, §9). */
import type { Context, Op } from '../domain/operations.ts'
import type { Pair } from '../domain/swap.ts'
import type { Catalogue } from './catalogue.ts'
import { type Layer, on } from './layer.ts'
import type { Listing } from './listing.ts'
import { from, namePair, to, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'
import { type Resolved, resolve } from './resolution.ts'

/** `mustBeListed`: what the provider's list lacks is refused, since another provider may have it. */
export function assets(catalogue: Catalogue, mustBeListed: boolean): Layer {
  const resolveBoth = async (op: Op, question: Pair, context: Context): Promise<[Resolved, Resolved]> => {
    const isCreate = op === 'createTransaction'
    // Waited for once, or both sides together would take three quarters of the time.
    const resolution = {
      catalogue,
      read: once(() => (isCreate ? catalogue.listingForCreate(context) : catalogue.listing(context))),
      readAtHand: once(() => catalogue.listingAtHand(context)),
      isCreate,
      mustBeListed,
    }
    const source = await resolve(wordsOf(question, from), from, resolution)
    return [source, await resolve(wordsOf(question, to), to, resolution)]
  }
  const recogniseBoth = <Row extends Pair>(row: Row, listing?: Listing | 'unreadable'): Row | undefined => {
    const source = recognise(wordsOf(row, from), catalogue.naming, listing)
    const target = recognise(wordsOf(row, to), catalogue.naming, listing)
    return source && target && namePair(row, source, target)
  }
  /** What configuration and table cannot tell, the provider's list may. */
  const recogniseListed = async <Row extends Pair>(row: Row, context: Context): Promise<Row> => {
    const listing = await catalogue.listing(context).catch(() => 'unreadable' as const)
    return recogniseBoth(row, listing) as Row
  }
  return on({
    async getRate(request, context, next) {
      const [source, target] = await resolveBoth('getRate', request, context)
      const pair = namePair({}, source.names, target.names)
      const answer = await next.call('getRate', namePair(request, source.words, target.words), { ...context, pair })
      return { ...answer, body: namePair(answer.body, source.names, target.names) }
    },
    async createTransaction(request, context, next) {
      const [source, target] = await resolveBoth('createTransaction', request, context)
      const pair = namePair({}, source.names, target.names)
      const answer = await next.call('createTransaction', namePair(request, source.words, target.words), { ...context, pair })
      return { ...answer, body: namePair(answer.body, source.names, target.names) }
    },
    getTransaction: (request, context, next) =>
      next.call('getTransaction', request, context).then((answer) => {
        const body = recogniseBoth(answer.body)
        return body ? { ...answer, body } : recogniseListed(answer.body, context).then((listed) => ({ ...answer, body: listed }))
      }),
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      const recogniseOne = <Row extends Pair>(row: Row) => recogniseBoth(row) ?? recogniseListed(row, context)
      const items = await Promise.all(answer.body.items.map(recogniseOne))
      const unreadable = answer.body.unreadable?.map(async ({ key, fields }) => ({ key, fields: await recogniseOne(fields) }))
      const odd = unreadable && { unreadable: await Promise.all(unreadable) }
      return { ...answer, body: { ...answer.body, items, ...odd } }
    },
  })
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined
  return () => {
    begun ??= work()
    return begun
  }
}
