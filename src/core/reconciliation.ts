/** Finds out what became of creates whose outcome is unknown (`spec/contract.md` §10): by looking, never by guessing. */
import { Fault } from '../domain/fault.ts'
import type { CreateOutcome, Observer } from '../domain/observation.ts'
import type { Span } from '../domain/span.ts'
import type { Tracing } from '../domain/trace.ts'
import { readTraceparent } from '../domain/traceparent.ts'
import type { Clock } from './intent.ts'
import type { Ledger, Open } from './ledger.ts'
import { type Reader, search } from './search.ts'
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
  /** Each look is a trace of its own, which refers to the create's. */
  readonly tracing?: Tracing | undefined
}

/** When an outcome is looked for, in milliseconds after the attempt; after that once an hour. */
const looks = [5_000, 30_000, 120_000, 600_000]
const hour = 3_600_000
/** How soon after a look the next may come, in milliseconds; and how soon where the process that looks does not come back. */
const pause = 5_000
const lease = 15_000
/** Creates that are looked for in one run, and at the same time: a slow provider does not hold up the others. */
const mostInOneRun = 100
const atOnce = 8

/** Looks for every create that is due. Throws where the ledger fails; what a provider does not tell now waits for the next look. */
export async function reconcile(options: ReconciliationOptions): Promise<void> {
  const { ledger, keys, clock, span } = options
  if (keys) keys.want(await ledger.waitingOwners())
  if (keys?.owners.length === 0) return
  const due = await ledger.due(clock(), mostInOneRun, keys?.owners)
  await atMost(atOnce, due, async (open) => {
    const leased = clock() + lease
    if (!(await ledger.take(open, leased))) return
    const root = options.tracing?.begin('internal', 'reconciliation', readTraceparent(open.traceparent))
    const isSettled = await look(open, keys?.of(open.owner), options, root).finally(() => root?.trace.finish(true))
    if (isSettled) return
    const again = { ...open, looks: open.looks + 1, lookAt: leased }
    await ledger.take(again, nextLook(open, clock(), span))
  })
}

/** Undefined where it is not looked for again. */
function nextLook({ attemptedAt }: Open, now: number, span: number): number | undefined {
  const after = looks.find((moment) => attemptedAt + moment > now + pause)
  const next = after === undefined ? now + hour : attemptedAt + after
  return next > attemptedAt + span ? undefined : next
}

type LookOutcome = Extract<CreateOutcome, 'found' | 'notFound' | 'ambiguous' | 'takenId' | 'notSeen'>

/** Whether its outcome is known now. */
async function look(open: Open, key: string | undefined, options: ReconciliationOptions, root?: Span): Promise<boolean> {
  const { ledger, readers, clock, observe } = options
  const reader = readers.get(open.provider)
  if (!reader) return false
  const caller = { address: '', identity: open.owner, ...(key !== undefined && { key }) }
  const count = (outcome: LookOutcome): void => {
    observe({ what: 'create', provider: open.provider, outcome })
    root?.tell({ 'swapgate.provider': open.provider, 'swapgate.outcome': outcome })
  }
  try {
    const { found, isAmbiguous } = await search(open, reader, caller, ledger, root)
    if (!found) {
      count(isAmbiguous ? 'ambiguous' : 'notFound')
      return false
    }
    const { derived = [], body } = found
    const at = clock()
    const transaction = { ...body, status: body.status ?? ('wait' as const) }
    const isTheirs = await ledger.settle(open.intent, { transaction, derived, seenAt: at, readAt: at })
    count(isTheirs ? 'found' : 'takenId')
    return true
  } catch (reason) {
    if (Fault.from(reason).kind === 'internal') throw reason
    count('notSeen')
    return false
  }
}
