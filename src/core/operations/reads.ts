/** How current what the ledger has of an open swap is, and why it is not (docs/operating.md#a-swap-that-cannot-be-read). */
import { toIso } from '../../domain/instant.ts'
import { isFinal } from '../../domain/status.ts'
import type { FailedReadsEvent } from '../../domain/timeline.ts'
import type { LedgerEntry } from '../ports/ledger.ts'

export type ReadsRow = NonNullable<ReturnType<typeof readsRow>>

/** Undefined of a swap that has ended. `failing`: null once a get has read it again. */
export function readsRow({ transaction, settledAt, fetchedAt, reportedAt }: LedgerEntry, failed: FailedReadsEvent | undefined) {
  if (isFinal(transaction.status) || settledAt !== undefined) return undefined
  return {
    readAt: toIso(fetchedAt),
    ageSeconds: Math.max(0, Math.floor((Date.now() - reportedAt) / 1_000)),
    failing: failed && failed.at > (fetchedAt ?? 0) ? failingRow(failed) : null,
  }
}

function failingRow({ since, at, tries, outcome, cause, owner }: FailedReadsEvent) {
  return { since: toIso(since), lastAt: toIso(at), tries, outcome, cause: cause ?? null, owner }
}

interface FailedText {
  readonly since: string
  readonly tries: number
  readonly outcome: string
  readonly cause?: string | null
}

/** `timed_out, 3 tries since 2026-11-27T18:40:02.113Z`. */
export function failedText({ since, tries, outcome, cause }: FailedText): string {
  const result = cause ? `${outcome} (${cause})` : outcome
  return `${result}, ${tries} ${tries === 1 ? 'try' : 'tries'} since ${since}`
}

/** What its owner sees of it now, with the header of an old state. */
export function ownerText(status: string | null, { ageSeconds, failing }: ReadsRow): string {
  const shown = status ?? 'no status'
  if (!failing) return shown
  return failing.owner === 'error' ? 'an error' : `${shown}, with X-Swap-Stale: ${ageSeconds}`
}
