/**
 * Port: which open transactions somebody watches, by a stream or a webhook, and when the gateway reads each of them next
 * (docs/contract-operators.md §18.4). It is shared by all processes.
 */
import type { LedgerEntry } from './ledger.ts'

export interface WatchedTransaction {
  readonly owner: string
  /** Tag of the provider, and the id there. */
  readonly provider: string
  readonly id: string
}

export interface DueTransaction {
  readonly entry: LedgerEntry
  /** Since its create. */
  readonly ageMs: number
  /** When the provider last said that it has changed. */
  readonly hintedAt: number | undefined
  /** Whether it was not taken since. Both by the clock of the ledger: this process's may be ahead of it. */
  readonly isHintNew: boolean
}

export interface WatchStore {
  /** Watches these for so long from now on; called again, it is prolonged. */
  readonly watch: (transactions: readonly WatchedTransaction[], forMs: number) => Promise<void>
  /** The same for whatever these owners have open, or will have. */
  readonly watchOwners: (owners: readonly string[], forMs: number) => Promise<void>
  /**
   * These texts may be ids of transactions at the provider, from somebody who says that something has changed. Those that are open here, at most
   * 100, are read soon, each at most once in five seconds.
   */
  readonly hint: (provider: string, texts: readonly string[]) => Promise<void>
  /** Finds what watched owners have open by now, and drops what nobody watches any more. */
  readonly findWatched: () => Promise<void>
  /**
   * Takes what is due at the provider, most overdue first, and schedules the next read: each is taken by one process. What has ended is
   * dropped instead. `ids`: only of these.
   */
  readonly takeDue: (provider: string, maxTransactions: number, ids?: readonly string[]) => Promise<readonly DueTransaction[]>
  /** These were read. */
  readonly recordReads: (provider: string, ids: readonly string[]) => Promise<void>
  /** These were taken and not read, since somebody else had read them, over five seconds ago: a hint need not wait. */
  readonly recordSkipped: (provider: string, ids: readonly string[]) => Promise<void>
  /** These could not be read, and are due again after this pause. */
  readonly postpone: (provider: string, ids: readonly string[], pauseMs: number) => Promise<void>
}

const minuteMs = 60_000

/** The pause between two reads while the time since the create is below `ageMs`, the first that fits. */
export const watchPauses = [
  { ageMs: 10 * minuteMs, pauseMs: 5_000 },
  { ageMs: 24 * 60 * minuteMs, pauseMs: 30_000 },
] as const
/** After a day, and of an overdue one. */
export const longestWatchPauseMs = 10 * minuteMs
/** The shortest pause before a read that a hint asks for, and the most of one hint. */
export const hintPauseMs = 5_000
export const maxHinted = 100

/** For so long an overdue transaction is read. */
export const overdueWatchedForMs = 7 * 24 * 60 * minuteMs

export function watchPauseMs(ageMs: number, isOverdue: boolean): number {
  const known = isOverdue ? undefined : watchPauses.find((each) => ageMs < each.ageMs)
  return known?.pauseMs ?? longestWatchPauseMs
}
