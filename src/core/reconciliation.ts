/** Finds out what became of creates whose outcome is unknown (docs/contract.md §10.2): by looking, never by guessing. */
import type { Observer } from '../domain/observation.ts'
import type { Span } from '../domain/span.ts'
import type { Tracing } from '../domain/trace.ts'
import { type Link, readTraceparent } from '../domain/traceparent.ts'
import type { Reader } from './candidates.ts'
import type { Clock } from './intent.ts'
import type { Ledger, Open } from './ledger.ts'
import type { ListReadings } from './list-readings.ts'
import { type LookResult, look } from './look.ts'
import { type Find, search } from './search.ts'
import type { WaitingKeys } from './waiting-keys.ts'
import { atMost } from './workers.ts'

export interface ReconciliationOptions {
  readonly ledger: Ledger
  /** How the transactions of each provider are read, by tag. */
  readonly readers: ReadonlyMap<string, Reader>
  /** What was read of lists that are longer than one look reads. */
  readonly readings: ListReadings
  /** Where a provider answers only to the key of the client who made the create: the keys that are at hand. */
  readonly keys?: WaitingKeys | undefined
  /** How long after its attempt a create is looked for, in milliseconds. */
  readonly span: number
  readonly clock: Clock
  readonly observe: Observer
  /** Each reading is a trace of its own, always kept, which refers to those of the creates. */
  readonly tracing?: Tracing | undefined
}

/** When an outcome is looked for, in milliseconds after the attempt; after that once an hour. */
const looks = [5_000, 30_000, 120_000, 600_000]
const hour = 3_600_000
/** How soon after a look the next may come, in milliseconds; and how soon where the process that looks does not come back. */
const pause = 5_000
const lease = 15_000
/** Creates that are looked for in one run, and at the same time: a slow provider does not hold up the others. */
const mostInOneRun = 200
const atOnce = 8

/** Looks for every create that is due. Throws where the ledger fails; what a provider does not tell now waits for the next look. */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, keys, clock } = options
  if (keys) await keys.want(() => ledger.waitingOwners())
  if (keys?.owners.length === 0) return
  const due = await ledger.due(clock(), mostInOneRun, keys?.owners)
  // One reading of a list serves all who may see it.
  const together = Map.groupBy(due, ({ provider, owner }) => (keys ? `${provider} ${owner}` : provider))
  await atMost(atOnce, [...together], ([whose, opens]) => lookFor(opens, whose, options))
}

async function lookFor(due: readonly Open[], whose: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, span, readings, observe, tracing } = options
  // One moment for all of it: a list that was begun before a create's time was over never ends it.
  const now = clock()
  const leased = now + lease
  const isTaken = await Promise.all(due.map((open) => ledger.take(open, leased)))
  const opens = due.filter((_, at) => isTaken[at]).map((open) => ({ ...open, looks: open.looks + 1, lookAt: leased }))
  if (opens.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', opens.flatMap(requestOf))
  const finding = find(opens, whose, now, options, root)
  finding?.catch(() => {}) // each look meets it
  const results: LookResult[] = []
  const looking = atMost(atOnce, opens, async (open) => {
    const isLast = now >= open.attemptedAt + span
    const trace = { root, links: requestOf(open) }
    const result = await look(open, finding, { ledger, span, isLast, at: clock(), observe, trace })
    results.push(result)
    if (!result.isOver) await ledger.take(open, nextLook(open, result, now, span))
  })
  await looking.finally(() => root?.trace.finish(true))
  if (results.every(({ outcome }) => outcome !== 'notSeen')) readings.forget(whose)
}

/** The request that made the create, in its trace. */
function requestOf({ traceparent }: Open): readonly Link[] {
  const link = readTraceparent(traceparent)
  return link ? [link] : []
}

/** Undefined where their provider is not configured any more. */
function find(
  opens: readonly Open[],
  whose: string,
  now: number,
  options: ReconciliationOptions,
  root: Span | undefined,
): Promise<Find> | undefined {
  const { ledger, readers, readings, keys, span } = options
  const [first] = opens
  const reader = first && readers.get(first.provider)
  if (!reader) return undefined
  const key = keys?.of(first.owner)
  const caller = { address: '', ...(key !== undefined && { identity: first.owner, key }) }
  // Nothing was created only if a list says so that was begun to be read when the time for looking was over.
  const ends = opens.map(({ attemptedAt }) => attemptedAt + span).filter((end) => end <= now)
  return search(opens, { reader, caller, ledger, root, readings, whose, now, notBefore: Math.max(0, ...ends) })
}

/**
 * The next look, and the last one when the time for looking is over. After that: undefined where the list has a candidate,
 * which only a person can tell from the others; else again until the list could be read whole.
 */
function nextLook({ attemptedAt }: Open, { outcome, retryAfterMs }: LookResult, now: number, span: number): number | undefined {
  const end = attemptedAt + span
  if (now >= end && outcome === 'ambiguous') return undefined
  const step = looks.find((moment) => attemptedAt + moment > now + pause)
  const regular = step === undefined ? now + hour : attemptedAt + step
  const next = retryAfterMs === undefined ? regular : Math.min(regular, now + Math.max(pause, retryAfterMs))
  return now < end ? Math.min(next, end) : next
}
