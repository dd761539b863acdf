/** The ledger decides whose a transaction is, with issued keys (`spec/contract.md` §5, §8, §12). */
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { CacheOutcome, Observer } from '../domain/observation.ts'
import { type Answer, type Context, waitingWith } from '../domain/operations.ts'
import { standardFault } from '../domain/standard-fault.ts'
import type { Clock } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { soonOr } from './patience.ts'
import { isFinal, shown, sight } from './sighting.ts'
import { withStatus } from './statuses.ts'

export interface OwnershipOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  /** How long what was read counts as fresh, in milliseconds. */
  readonly refresh: number
  readonly clock: Clock
  readonly observe: Observer
}

/** How long an answer waits until the ledger has what it tells, in milliseconds; else it is kept when it is seen again. */
const patience = 500

/** Told as it is, though something is known: the provider does not know the transaction, or not us; or the fault is ours. */
const neverStale: ReadonlySet<FaultKind> = new Set<FaultKind>(['notFound', 'accessRefused', 'internal'])

type Details = Answer<'getTransaction'>

/** Another's transaction is one that does not exist. What is final or fresh is answered from the ledger, and what fails too. */
export function ownership(options: OwnershipOptions): Layer {
  const { ledger, provider, refresh, clock, observe } = options
  const count = (outcome: CacheOutcome, entry?: Entry): void =>
    observe({ what: 'cache', cache: 'transaction', outcome, ...(entry && { age: (clock() - entry.seenAt) / 1000 }) })
  const readings = new Map<string, ReturnType<typeof read>>()
  return on({
    async getTransaction(request, context, next) {
      const entry = await ledger.find(ownerOf(context), provider, request.id)
      if (!entry) throw noTransaction()
      if (!isDue(entry, clock(), refresh)) {
        count('hit', entry)
        return withStatus(recall(entry, context))
      }
      // Whoever asks meanwhile waits for the same reading.
      const others = readings.get(request.id)
      try {
        const reading = others ? waitingWith(context, others) : read(entry, next.call('getTransaction', request, context), options)
        if (!others) readings.set(request.id, reading)
        const { answer, kept } = await reading.finally(() => readings.delete(request.id))
        count(others ? 'shared' : 'miss')
        return withStatus({ ...answer, body: shown(kept, context), derived: kept.derived })
      } catch (reason) {
        if (neverStale.has(Fault.from(reason).kind)) throw reason
        count('stale', entry)
        const stale = Math.floor((clock() - entry.seenAt) / 1000)
        return withStatus({ ...recall(entry, context), stale })
      }
    },
  })
}

/** What the provider tells now, and what is kept of it. */
async function read(
  entry: Entry,
  asked: Promise<Details>,
  { ledger, provider, clock }: OwnershipOptions,
): Promise<{ readonly answer: Details; readonly kept: Facts }> {
  const answer = await asked
  const { body: told, derived = [] } = answer
  if (told.id !== entry.transaction.id) throw anotherOne(provider)
  const facts = sight(entry, { told, derived, at: clock(), isWhole: true })
  const kept = await soonOr(ledger.see(entry.owner, provider, facts), undefined, patience)
  return { answer, kept: kept ?? facts }
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
  return standardFault('notFound')
}

/** Another transaction's deposit address under this id would be somebody's loss. */
export function anotherOne(provider: string): Fault {
  const message = "The provider's answer was about another transaction; please try again later."
  return new Fault('unreadable', message, { provider })
}
