/** Finds out what became of creates whose outcome is unknown (`spec/contract.md` §10): by looking, never by guessing. */
import { Fault } from '../domain/fault.ts'
import type { CreateOutcome, Observer } from '../domain/observation.ts'
import type { Span } from '../domain/span.ts'
import type { Tracing } from '../domain/trace.ts'
import { type Link, readTraceparent } from '../domain/traceparent.ts'
import type { Reader } from './candidates.ts'
import type { Clock } from './intent.ts'
import type { Ledger, Open } from './ledger.ts'
import { type Find, type Found, search } from './search.ts'
import type { WaitingKeys } from './waiting-keys.ts'
import { atMost } from './workers.ts'

export interface ReconciliationOptions {
  readonly ledger: Ledger
  /** How the transactions of each provider are read, by tag. */
  readonly readers: ReadonlyMap<string, Reader>
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
  if (keys) keys.want(await ledger.waitingOwners())
  if (keys?.owners.length === 0) return
  const due = await ledger.due(clock(), mostInOneRun, keys?.owners)
  // One reading of a list serves all who may see it.
  const together = Map.groupBy(due, ({ provider, owner }) => (keys ? `${provider} ${owner}` : provider))
  await atMost(atOnce, [...together.values()], (opens) => lookFor(opens, options))
}

async function lookFor(due: readonly Open[], options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, span, tracing } = options
  const leased = clock() + lease
  const isTaken = await Promise.all(due.map((open) => ledger.take(open, leased)))
  const opens = due.filter((_, at) => isTaken[at])
  if (opens.length === 0) return
  const root = tracing?.begin('internal', 'reconciliation', opens.flatMap(requestOf))
  const finding = find(opens, options, root)
  const looking = atMost(atOnce, opens, async (open) => {
    if (await look(open, finding, options, root)) return
    const again = { ...open, looks: open.looks + 1, lookAt: leased }
    await ledger.take(again, nextLook(open, clock(), span))
  })
  await looking.finally(() => root?.trace.finish(true))
}

/** The request that made the create, in its trace. */
function requestOf({ traceparent }: Open): readonly Link[] {
  const link = readTraceparent(traceparent)
  return link ? [link] : []
}

/** Undefined where their provider is not configured any more. */
function find(opens: readonly Open[], { ledger, readers, keys }: ReconciliationOptions, root?: Span): Promise<Find> | undefined {
  const [first] = opens
  const reader = first && readers.get(first.provider)
  if (!reader) return undefined
  const key = keys?.of(first.owner)
  const caller = { address: '', ...(key !== undefined && { identity: first.owner, key }) }
  return search(opens, reader, caller, ledger, root)
}

/** Undefined where it is not looked for again. */
function nextLook({ attemptedAt }: Open, now: number, span: number): number | undefined {
  const after = looks.find((moment) => attemptedAt + moment > now + pause)
  const next = after === undefined ? now + hour : attemptedAt + after
  return next > attemptedAt + span ? undefined : next
}

type LookOutcome = Extract<CreateOutcome, 'found' | 'notFound' | 'ambiguous' | 'takenId' | 'contradicted' | 'notSeen'>

/** Whether its outcome is known now. */
async function look(
  open: Open,
  finding: Promise<Find> | undefined,
  { ledger, clock, observe }: ReconciliationOptions,
  root: Span | undefined,
): Promise<boolean> {
  const { provider } = open
  const span = root?.begin('look', { 'swapgate.provider': provider }, 'internal', requestOf(open))
  const count = (outcome: LookOutcome): void => {
    observe({ what: 'create', provider, outcome })
    span?.tell({ 'swapgate.outcome': outcome })
  }
  try {
    const found = await (await finding)?.(open, span)
    if (!found) return false
    return await settle(open, found, ledger, clock(), count)
  } catch (reason) {
    if (Fault.from(reason).kind === 'internal') throw reason
    count('notSeen')
    return false
  } finally {
    span?.end()
  }
}

async function settle(
  open: Open,
  { found, isAmbiguous }: Found,
  ledger: Ledger,
  at: number,
  count: (outcome: LookOutcome) => void,
): Promise<boolean> {
  if (!found) {
    count(isAmbiguous ? 'ambiguous' : 'notFound')
    return false
  }
  const { derived = [], body, contradicted = [] } = found
  if (contradicted.length > 0) {
    await ledger.contradict(open.intent, body, contradicted)
    count('contradicted')
    return true
  }
  const transaction = { ...body, status: body.status ?? ('wait' as const) }
  const isTheirs = await ledger.settle(open.intent, { transaction, derived, seenAt: at, readAt: at })
  count(isTheirs ? 'found' : 'takenId')
  return true
}
