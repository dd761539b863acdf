/** Which provider answers, and the tag by which a transaction's id remembers it (`spec/contract.md` §4, §12). */
import { Fault } from '../domain/fault.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { SwapService } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import { answers } from './layer.ts'

export interface Routing {
  readonly tag: string
  readonly provider: SwapService
  /** Whether an id without a tag belongs to this provider. */
  readonly ownsUntagged: boolean
}

const divider = '~'

/** Everything goes to the one provider; an id with another tag is not this key's. */
export function route({ tag, provider, ownsUntagged }: Routing): SwapService {
  const tagged = (transaction: Transaction): Transaction => ({ ...transaction, id: tag + divider + transaction.id })
  return answers({
    listCurrencies: (query, context) => provider.call('listCurrencies', query, context),
    getRate: (query, context) => provider.call('getRate', query, context),
    async createTransaction(request, context) {
      const answer = await provider.call('createTransaction', request, context)
      return { ...answer, body: tagged(answer.body) }
    },
    async listTransactions(query, context) {
      const answer = await provider.call('listTransactions', query, context)
      return { ...answer, body: { ...answer.body, items: answer.body.items.map(tagged) } }
    },
    async getTransaction({ id }, context) {
      const own = ownId(id, tag, ownsUntagged)
      if (own === undefined || !isIdentifier(own)) throw new Fault('notFound', 'Transaction not found.')
      const answer = await provider.call('getTransaction', { id: own }, context)
      if (answer.body.id !== own) throw foreign(tag)
      return { ...answer, body: { ...answer.body, id } }
    },
  })
}

/** The provider's own id, or undefined where the id is not one of its. The first divider divides. */
function ownId(id: string, tag: string, ownsUntagged: boolean): string | undefined {
  const at = id.indexOf(divider)
  if (at < 0) return ownsUntagged ? id : undefined
  return id.slice(0, at) === tag ? id.slice(at + 1) : undefined
}

/** Another transaction's deposit address under this id would be somebody's loss. */
function foreign(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}
