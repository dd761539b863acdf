/** What an operator does with the ledger by hand (docs/contract.md §10). Times are milliseconds since 1970. */
import type { Status } from '../domain/swap/status.ts'
import type { NewTransaction } from '../domain/swap/swap.ts'
import type { LedgerEntry, TransactionRecord } from './ledger.ts'

export interface LedgerStats {
  readonly entries: readonly StatusCount[]
  /** Creates of unknown outcome: still running, or given up. */
  readonly pending: number
  readonly unknown: number
  /** When the oldest of them was attempted. */
  readonly oldestAttempt?: number | undefined
  readonly mismatches: number
  readonly claims: number
  readonly accounts: number
  /** Neither revoked nor expired. */
  readonly validKeys: number
}

export interface StatusCount {
  readonly provider: string
  /** Absent where the provider's word is not known. */
  readonly status?: Status | undefined
  readonly count: number
}

/** What is not done, in figures. `oldest`: when the oldest of them was created or attempted. */
export interface LedgerGauges {
  /** Transactions that have not ended: neither success, refunded nor overdue. */
  readonly unfinished: readonly (StatusCount & { readonly oldest: number })[]
  readonly unresolvedCounts: readonly UnresolvedCount[]
}

/** Creates without a known or accepted outcome. */
export interface UnresolvedCount {
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'mismatch'
  readonly count: number
  readonly oldest: number
}

/**
 * What is open (docs/contract.md §12): a create under way or of unknown outcome, and a transaction that is neither success nor
 * refunded, nor overdue for 7 days. Overdue counts from the change of its status; where none was seen, from its creation.
 */
export interface OpenCount {
  /** Tag. */
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'done'
  /** Of a transaction (`done`), where the provider's word is known. */
  readonly status?: Status | undefined
  readonly count: number
}

/** A create that an operator may have to settle by hand. */
export interface UnresolvedCreateReport {
  readonly intent: string
  readonly owner: string
  readonly provider: string
  readonly state: 'pending' | 'unknown' | 'mismatch'
  readonly requested: NewTransaction
  readonly attemptedAt: number
  /** Of a mismatch: the id that the provider told, and the fields that contradict the question. */
  readonly reported?: { readonly id: string; readonly fields: readonly string[] } | undefined
}

/** `kept`: what has ended too and was not forgotten, by each reason that holds. */
export interface Pruned {
  readonly pruned: number
  readonly kept: {
    /** Overdue for less than 30 days: a late deposit may revive it. */
    readonly overdue: number
    /** Its Idempotency-Key still answers with it. */
    readonly recentKey: number
    /** A create of unknown outcome could be taken for it. */
    readonly unresolved: number
  }
}

/**
 * Every method throws where the store cannot do it, and then has done nothing. `actor`: who changes it by hand, for the audit
 * log (`core/operations/audit.ts`).
 */
export interface LedgerAdmin {
  readonly stats: (now: number) => Promise<LedgerStats>
  /** Costs by what is not done, whatever else there is. */
  readonly gauges: () => Promise<LedgerGauges>
  /** Costs by what is open, whatever else there is. */
  readonly openCounts: () => Promise<readonly OpenCount[]>
  /** Creates of unknown outcome and mismatches, the oldest attempt first. */
  readonly unresolved: () => Promise<readonly UnresolvedCreateReport[]>
  /**
   * The provider holds this create under `id`: from now on it is its owner's. Without `facts` it is what was asked, and the next
   * read asks the provider for the rest. `taken`: the ledger gave this id to another create. `missing`: there is no
   * such create to settle.
   */
  readonly bind: (
    intent: string,
    id: string,
    at: number,
    record: TransactionRecord | undefined,
    actor: string,
  ) => Promise<'bound' | 'taken' | 'missing'>
  /** Nothing was created: the intent and its claim are gone. False where there is no such create to settle. */
  readonly markNotCreated: (intent: string, actor: string) => Promise<boolean>
  /** All transactions, or those created since then: owner by owner, newest creation first. */
  readonly export: (since?: number) => AsyncIterable<LedgerEntry>
  /** Forgets what ended, created before then: success, refunded, and what has been overdue for 30 days, with its claims. */
  readonly prune: (before: number, actor: string) => Promise<Pruned>
}
