/** Looks for transactions of creates that were refused by an answer that may not be the provider's own (docs/contract.md §10.2). */

import { forEachConcurrently } from '../../../domain/async.ts'
import { Fault } from '../../../domain/fault.ts'
import type { UnresolvedCreate } from '../../ledger.ts'
import type { MatchCreate } from './match-create.ts'
import { concurrency, leaseMs, maxCreatesPerRun, type ReconciliationOptions, startMatching } from './reconcile.ts'

/** After the attempt: the second look, and the last try of one that failed. */
const secondLookMs = 120_000
const lastLookMs = 3_600_000

/** Makes every due look. What is found is kept for a person and counted: the client has got the refusal, and its key is free. */
export async function lookAfterRefusals(options: ReconciliationOptions): Promise<void> {
  const { ledger, pendingKeys, clock } = options
  if (pendingKeys?.owners.length === 0) return
  const due = await ledger.dueLooks(clock(), maxCreatesPerRun, pendingKeys?.owners)
  const groups = Map.groupBy(due, ({ provider, owner }) => (pendingKeys ? `refused ${provider} ${owner}` : `refused ${provider}`))
  await forEachConcurrently(concurrency, [...groups], ([scanKey, creates]) => lookFor(creates, scanKey, options))
}

async function lookFor(due: readonly UnresolvedCreate[], scanKey: string, options: ReconciliationOptions): Promise<void> {
  const { ledger, clock, scans } = options
  const now = clock()
  const isTaken = await Promise.all(due.map((create) => ledger.scheduleNextLook(create, now + leaseMs)))
  const creates = due.filter((_, at) => isTaken[at]).map((create) => ({ ...create, checkCount: create.checkCount + 1 }))
  if (creates.length === 0) return
  const matching = startMatching(creates, scanKey, now, options)
  matching?.catch(() => {}) // each look handles the rejection
  await forEachConcurrently(concurrency, creates, async (create) => {
    const isRead = await look(create, matching, now, options)
    await ledger.scheduleNextLook(create, nextLookTime(create, isRead, now))
  })
  scans.forget(scanKey)
}

/** Returns whether the list could be read. */
async function look(
  create: UnresolvedCreate,
  matching: Promise<MatchCreate> | undefined,
  now: number,
  { ledger, observe }: ReconciliationOptions,
): Promise<boolean> {
  if (!matching) return false
  const { provider } = create
  try {
    const { matched, isAmbiguous, candidates = [] } = await (await matching)(create)
    // Until the last look another create may still turn out to have one of the candidates.
    const isUndecided = isAmbiguous && candidates.length > 0 && isLastLook(create, now)
    const isKept = matched ? await ledger.keepRefused(create, matched.body) : isUndecided
    if (isUndecided) await ledger.keepCandidates(create, candidates)
    if (isKept) observe({ what: 'create', provider, outcome: 'foundAfterRefusal' })
    return true
  } catch (reason) {
    if (Fault.from(reason).kind === 'internal') throw reason
    return false
  }
}

/** Whether no look follows, if the list can be read. */
function isLastLook({ attemptedAt }: UnresolvedCreate, now: number): boolean {
  return now >= attemptedAt + secondLookMs
}

/** Undefined: it was the last look. */
function nextLookTime(create: UnresolvedCreate, isRead: boolean, now: number): number | undefined {
  const { attemptedAt } = create
  if (!isLastLook(create, now)) return attemptedAt + secondLookMs
  return isRead || now >= attemptedAt + lastLookMs ? undefined : now + secondLookMs
}
