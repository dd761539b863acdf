/**
 * What is remembered of a caller's transactions where the provider decides whose they are: it completes what the provider's
 * form lacks, for the same key only (docs/contract.md §3, §5). Where the ledger fails, answers are as the provider gave them.
 */
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import { isFinal } from '../domain/status.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { lookUp, needsDetails } from './completion.ts'
import { type Freshness, oldestOf } from './freshness.ts'
import type { Clock } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { type Known, type Recent, recent } from './recent.ts'
import { type Merged, merge, type RecordOptions, report } from './record.ts'
import { isOvertaken, readingOf, type Sighting, shown } from './sighting.ts'
import { withStatus } from './statuses.ts'
import { WriteBehind } from './write-behind.ts'

export interface MemoryOptions extends RecordOptions {
  readonly ledger: Ledger
  /** What its form can say. */
  readonly said: Vocabulary
  readonly freshness: Freshness
  readonly clock: Clock
}

type Options = MemoryOptions & { readonly looked: Recent; readonly behind: WriteBehind }

export function memory(given: MemoryOptions): Layer {
  const looked = recent(given.ledger, given.provider)
  const options = { ...given, looked, behind: new WriteBehind(looked, given) }
  return on({
    async getTransaction(request, context, next) {
      const sentAt = performance.now()
      const answer = await next.call('getTransaction', request, context)
      if (answer.body.id !== request.id) return answer
      const owner = ownerOf(context)
      const known = await looked.find(owner, request.id, sentAt, answer.body.status)
      const { facts, stale } = take(owner, known, [readingOf(answer, options.clock())], options)
      return withStatus({ ...answer, body: shown(facts, context), derived: facts.derived, ...(stale !== undefined && { stale }) })
    },
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      return answer.body.items.length === 0 ? answer : remember(answer, context, next, options)
    },
  })
}

/** What the list leaves open is filled from the ledger, else from the provider's details, which are then in the ledger. */
async function remember(
  answer: Answer<'listTransactions'>,
  context: Context,
  service: SwapService,
  options: Options,
): Promise<Answer<'listTransactions'>> {
  const { said, clock, looked } = options
  const { items } = answer.body
  const owner = ownerOf(context)
  const ids = items.map(({ id }) => id)
  const known = await looked.findAll(owner, ids)
  const open = needsDetails(context, said) ? ids.filter((id) => !isDetailed(latestOf(known.get(id)))) : []
  const details = await lookUp(new Set(open), service, context)
  const at = clock()
  const rows = items.map((told) => {
    const row: Sighting = { told, derived: answer.derived ?? [], at, isWhole: false, sequence: answer.sequence }
    const detail = details.get(told.id)
    return take(owner, known.get(told.id) as Known, detail ? [row, readingOf(detail, at)] : [row], options)
  })
  const stale = oldestOf(rows)
  const derived = [...new Set(rows.flatMap(({ facts }) => facts.derived))]
  const body = { ...answer.body, items: rows.map(({ facts }) => shown(facts, context)) }
  return { ...answer, body, derived, ...(stale !== undefined && { stale }) }
}

interface Taken {
  readonly facts: Facts
  /** Seconds since it was so, where the provider now contradicts what was created here. */
  readonly stale?: number
}

/** What is known after these sightings, of which each was asked for after the one before. What is news is kept. */
function take(owner: string, known: Known, sightings: readonly Sighting[], options: Options): Taken {
  const { noted } = known
  if (noted && sightings.every((sighting) => isOvertaken(noted, sighting))) return { facts: noted }
  const before = latestOf(known)
  const toEntry = (facts: Facts): Entry => ({ isCreated: before?.isCreated ?? false, ...facts, owner, provider: options.provider })
  let last: { readonly merged: Merged; readonly sighting: Sighting } | undefined
  for (const sighting of sightings) {
    const merged = merge(last ? toEntry(last.merged.facts) : before, sighting, options)
    report(merged, options)
    if (merged.rejected.length > 0) break
    last = { merged, sighting }
  }
  if (!last) return { facts: before as Entry, stale: Math.floor(options.freshness.secondsSince(before as Entry)) }
  const { facts } = last.merged
  if (facts === before) return { facts }
  const isNews = options.behind.write(known, { owner, ...last })
  options.looked.note(known, toEntry(facts), isNews)
  return { facts }
}

/** What is noted is later than what is stored until it is written; but an end that another process has stored stays. */
function latestOf(known: Known | undefined): Entry | undefined {
  return known?.isWriting && !isFinal(known.stored?.transaction.status) ? known.noted : known?.stored
}

function isDetailed(entry: Entry | undefined): boolean {
  return entry !== undefined && (entry.readAt !== undefined || (entry.isCreated && entry.transaction.depositAddress !== undefined))
}
