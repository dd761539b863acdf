/** The JSON in the columns `transactions.facts` and `claims.first`. Its keys are data of ledgers that exist: they never change. */
import type { Facts } from '../../core/ledger.ts'
import type { Amount } from '../../domain/amount.ts'
import type { Transaction } from '../../domain/swap.ts'

/** Of an entry: what no other column has. */
interface StoredEntry {
  readonly transaction: Omit<Transaction, 'status'>
  readonly derived: readonly string[]
  readonly promised?: Amount | undefined
}

/** Of a claim: what the first response to its key was made from. */
interface StoredFirst extends StoredEntry {
  readonly transaction: Transaction
  readonly seenAt: number
  readonly readAt?: number | undefined
  readonly changedAt?: number | undefined
  readonly sequence?: number | undefined
}

export function storeEntry(facts: Facts): string {
  const { status: _, ...transaction } = facts.transaction
  const stored: StoredEntry = { transaction, derived: facts.derived, promised: facts.promised }
  return JSON.stringify(stored)
}

export function loadEntry(text: string): Pick<Facts, 'derived' | 'promised'> & Pick<StoredEntry, 'transaction'> {
  const stored = JSON.parse(text) as StoredEntry
  const entry = { transaction: stored.transaction, derived: stored.derived }
  return stored.promised === undefined ? entry : { ...entry, promised: stored.promised }
}

export function storeFirst(facts: Facts): string {
  const stored: StoredFirst = {
    transaction: facts.transaction,
    derived: facts.derived,
    promised: facts.promised,
    seenAt: facts.seenAt,
    readAt: facts.readAt,
    changedAt: facts.changedAt,
    sequence: facts.sequence,
  }
  return JSON.stringify(stored)
}

export function loadFirst(text: string): Facts {
  const stored = JSON.parse(text) as StoredFirst
  return {
    transaction: stored.transaction,
    derived: stored.derived,
    promised: stored.promised,
    seenAt: stored.seenAt,
    readAt: stored.readAt,
    changedAt: stored.changedAt,
    sequence: stored.sequence,
  }
}
