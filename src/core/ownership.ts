/** The ledger decides whose a transaction is, with issued keys (docs/contract.md §5, §8, §12). */
import type { AssetTable } from '../domain/asset.ts'
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { CacheOutcome, Observer } from '../domain/observation.ts'
import { type Answer, type Context, waitingWith } from '../domain/operations.ts'
import { standardFault } from '../domain/standard-fault.ts'
import { withDefault } from '../domain/with-timeout.ts'
import type { Freshness } from './freshness.ts'
import type { Clock } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { keep, merge, report } from './record.ts'
import type { SequenceClock } from './sequence.ts'
import { readingOf, shown } from './sighting.ts'
import { withStatus } from './statuses.ts'

export interface OwnershipOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  readonly table: AssetTable
  readonly freshness: Freshness
  readonly sequences: SequenceClock
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
  const { ledger, provider, freshness, sequences, observe } = options
  const count = (outcome: CacheOutcome, entry?: Entry): void =>
    observe({ what: 'cache', cache: 'transaction', outcome, ...(entry && { age: freshness.secondsSince(entry) }) })
  const readings = new Map<string, ReturnType<typeof read>>()
  return on({
    async getTransaction(request, context, next) {
      const owner = ownerOf(context)
      const entry = await ledger.find(owner, provider, request.id)
      if (!entry) throw noTransaction()
      if (!freshness.isDue(entry)) {
        count('hit', entry)
        return withStatus(recall(entry, context))
      }
      sequences.observe(entry.sequence)
      // Whoever asks meanwhile waits for the same reading.
      const others = readings.get(request.id)
      try {
        const reading = others ? waitingWith(context, others) : read(entry, next.call('getTransaction', request, context), options)
        if (!others) readings.set(request.id, reading)
        const { answer, kept } = await reading.finally(() => readings.get(request.id) === reading && readings.delete(request.id))
        count(others ? 'shared' : 'miss')
        return withStatus({ ...answer, body: shown(kept, context), derived: kept.derived })
      } catch (reason) {
        if (neverStale.has(Fault.from(reason).kind)) throw reason
        // Another process may have seen more since.
        const latest = (await withDefault(ledger.find(owner, provider, request.id), patience, entry)) ?? entry
        count('stale', latest)
        return withStatus({ ...recall(latest, context), stale: Math.floor(freshness.secondsSince(latest)) })
      }
    },
  })
}

/** What the provider tells now, and what is kept of it. */
async function read(
  entry: Entry,
  asked: Promise<Details>,
  options: OwnershipOptions,
): Promise<{ readonly answer: Details; readonly kept: Facts }> {
  const { provider, clock, freshness } = options
  const answer = await asked
  const { id } = entry.transaction
  if (answer.body.id !== id) throw anotherOne(provider)
  const reading = readingOf(answer, clock())
  const merged = merge(entry, reading, options)
  const keeping = keep(entry.owner, reading, { merged, stored: entry }, options)
  const latest = (await withDefault(keeping, patience, undefined)) ?? merged
  report(latest, options)
  if (latest.rejected.length > 0) throw anotherOne(provider)
  freshness.note(provider, id, reading.at)
  return { answer, kept: latest.facts }
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
