/** The ledger decides whose a transaction is, with issued keys (`spec/contract.md` §5, §8, §12). */
import { Fault } from '../domain/fault.ts'
import type { Answer, Context } from '../domain/operations.ts'
import type { Clock } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { isFinal, shown, sight } from './sighting.ts'
import { withStatus } from './statuses.ts'

export interface OwnershipOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  /** How long what was read counts as fresh, in milliseconds. */
  readonly refresh: number
  readonly clock: Clock
}

/** Another's transaction is one that does not exist. What is final or fresh is answered from the ledger, and what fails too. */
export function ownership({ ledger, provider, refresh, clock }: OwnershipOptions): Layer {
  return on({
    async getTransaction(request, context, next) {
      const owner = ownerOf(context)
      const entry = await ledger.find(owner, provider, request.id)
      if (!entry) throw noTransaction()
      if (!isDue(entry, clock(), refresh)) return withStatus(recall(entry, context))
      try {
        const answer = await next.call('getTransaction', request, context)
        if (answer.body.id !== request.id) throw anotherOne(provider)
        const { body: told, derived = [] } = answer
        const facts = sight(entry, { told, derived, at: clock(), isWhole: true })
        const kept = (await ledger.see(owner, provider, facts).catch(() => undefined)) ?? facts
        return withStatus({ ...answer, body: shown(kept, context), derived: kept.derived })
      } catch (reason) {
        if (Fault.from(reason).kind === 'notFound') throw reason
        const stale = Math.floor((clock() - entry.seenAt) / 1000)
        return withStatus({ ...recall(entry, context), stale })
      }
    },
  })
}

/** Whether the provider is to be asked before the entry is shown: what only its create told is never fresh. */
export function isDue({ transaction, readAt }: Entry, now: number, refresh: number): boolean {
  return !isFinal(transaction.status) && (readAt === undefined || now - readAt >= refresh)
}

/** As it was last seen. */
export function recall(entry: Entry, context: Context): Answer<'getTransaction'> {
  return { body: shown(entry, context), provider: entry.provider, derived: entry.derived }
}

/** The same words for an id that nobody has and for another's. */
export function noTransaction(): Fault {
  return new Fault('notFound', 'Transaction not found.')
}

/** Another transaction's deposit address under this id would be somebody's loss. */
export function anotherOne(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}
