/** `ledger.keep`, `ledger.keepAudit`, `events.keep`, and counts of requests: what is older is removed by one process of several, in short steps. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Retention, RetentionCursor } from '../core/ports/retention.ts'
import type { WebhookStore } from '../core/ports/webhooks.ts'

export interface Kept {
  /** Days; undefined: for good. */
  readonly keep?: number | undefined
  readonly keepAudit?: number | undefined
  readonly keepEvents?: number | undefined
}

const dayMs = 86_400_000
/** Between two runs, by whichever process. One that goes on says so within a part of it. */
const runIntervalMs = 3_600_000
const turnIntervalMs = 60_000
/** Requests come between two steps. */
const pauseMs = 20

/** Removes what is due, if it is this process's turn. `isStopped`: then it ends after the step. */
export async function removeOld(
  retention: Retention,
  { keep, keepAudit, keepEvents }: Kept,
  isStopped: () => boolean,
): Promise<void> {
  if (!(await retention.takeTurn(runIntervalMs))) return
  const goOn = turnKeeper(retention, isStopped)
  while ((await retention.requestsStep()) && (await goOn()));
  if (keepAudit !== undefined) while ((await retention.auditStep(keepAudit * dayMs)) && (await goOn()));
  if (keepEvents !== undefined) while ((await retention.eventsStep(keepEvents * dayMs)) && (await goOn()));
  if (keep === undefined) return
  while ((await retention.prunedIdsStep()) && (await goOn()));
  const before = await retention.keptSince(keep * dayMs)
  let total = 0
  for (let after: RetentionCursor | undefined; ; ) {
    const { pruned, next } = await retention.pruneStep(before, after)
    total += pruned
    if (!next || !(await goOn())) break
    after = next
  }
  if (total > 0) await retention.noteOfPrune(before, total)
}

/** Removes deliveries to webhooks that ended so long ago. */
export async function removeOldDeliveries(
  { expire }: Pick<WebhookStore, 'expire'>,
  keptMs: number,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped() && (await expire(keptMs))) await delay(pauseMs)
}

/** A pause after a step. False if the process ends. */
function turnKeeper(retention: Retention, isStopped: () => boolean): () => Promise<boolean> {
  let keptAt = performance.now()
  return async () => {
    await delay(pauseMs)
    if (performance.now() - keptAt > turnIntervalMs) {
      await retention.keepTurn()
      keptAt = performance.now()
    }
    return !isStopped()
  }
}
