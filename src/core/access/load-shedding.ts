/** Sheds load before it costs anything (docs/contract.md §6, 503): quotes first, creates last. */
import { Fault } from '../../domain/faults/fault.ts'
import type { Op } from '../../domain/swap/operations.ts'

/** How much of its work the process cannot do in time: 0 none, 1 quotes are too many, 2 reads too, 3 creates too. */
export type LoadLevel = 0 | 1 | 2 | 3

/** Milliseconds. */
export interface LedgerWaits {
  readonly readMs: number
  readonly writeMs: number
}

export interface Load {
  readonly level: LoadLevel
}

/** The strain from which on an operation is refused. */
const shedAt: Readonly<Record<Op, LoadLevel>> = {
  listCurrencies: 1,
  getRate: 1,
  listTransactions: 2,
  getTransaction: 2,
  createTransaction: 3,
}

const retryAfter = 2

/** From so long a wait on, whoever comes new to the ledger is refused; nobody waits for it longer than twice that. */
const maxReadWaitMs = 500
const maxCreateWaitMs = 1_000

export interface LoadSheddingOptions {
  readonly load: Load
  /** How long the first has waited for the ledger. */
  readonly ledgerWaits: () => LedgerWaits
  /** Whether the ledger decides whose a transaction is. */
  readonly readsNeedLedger: boolean
}

/** Whether an operation is refused now. */
export function loadShedding({ load, ledgerWaits, readsNeedLedger }: LoadSheddingOptions): (op: Op) => boolean {
  const isLedgerBusy = (op: Op): boolean => {
    const { readMs, writeMs } = ledgerWaits()
    if (op === 'createTransaction') return Math.max(readMs, writeMs) >= maxCreateWaitMs
    return readsNeedLedger && shedAt[op] === 2 && readMs >= maxReadWaitMs
  }
  return (op) => load.level >= shedAt[op] || isLedgerBusy(op)
}

export function overloaded(): Fault {
  return new Fault('unavailable', 'The service is overloaded; please wait as long as Retry-After says.', {
    retryAfter,
    reason: 'overloaded',
  })
}
