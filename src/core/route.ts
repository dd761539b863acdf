/** Which provider answers, and the tag by which a transaction's id remembers it (docs/contract.md §4, §12). */
import { isIdentifier } from '../domain/identifier.ts'
import type { SwapService } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import { within } from './deadline.ts'
import { readReference, taggedId } from './identification.ts'
import { answers } from './layer.ts'
import { anotherOne, noTransaction } from './ownership.ts'
import { type Candidate, firstOf } from './priority.ts'

export interface Routing {
  /** Who may take quotes and creates, in order; at least one. */
  readonly active: readonly Candidate[]
  /** Who holds transactions, by tag. */
  readonly holders: ReadonlyMap<string, SwapService>
  /** The tag of whom an id without one belongs to. */
  readonly untagged: string | undefined
  /** Bounds a quote or a create over all who are asked, in milliseconds. */
  readonly timeout: number
}

export function route({ active, holders, untagged, timeout }: Routing): SwapService {
  const [first] = active as [Candidate]
  const tagged = (provider: string, transaction: Transaction): Transaction => ({
    ...transaction,
    id: taggedId(provider, transaction.id),
  })
  return answers({
    listCurrencies: (query, context) => first.service.call('listCurrencies', query, context),
    getRate: (query, context) => firstOf(active, 'getRate', query, within(context, timeout)).then(({ answer }) => answer),
    async createTransaction(request, context) {
      const { answer, tag } = await firstOf(active, 'createTransaction', request, within(context, timeout))
      return { ...answer, body: tagged(tag, answer.body) }
    },
    async listTransactions(query, context) {
      const answer = await first.service.call('listTransactions', query, context)
      return { ...answer, body: { ...answer.body, items: answer.body.items.map((item) => tagged(first.tag, item)) } }
    },
    async getTransaction({ id: asked }, context) {
      const { tag = untagged, id } = readReference(asked)
      const holder = tag === undefined ? undefined : holders.get(tag)
      if (tag === undefined || !holder || !isIdentifier(id)) throw noTransaction()
      const answer = await holder.call('getTransaction', { id }, context)
      if (answer.body.id !== id) throw anotherOne(tag)
      return { ...answer, body: { ...answer.body, id: asked } }
    },
  })
}
