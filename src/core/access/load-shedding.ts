/** Load shedding before any work is done (docs/contract.md §6, 503): quotes first, creates last. */
import { Fault } from '../../domain/faults/fault.ts'
import type { Op } from '../../domain/swap/operations.ts'

/** What is shed: 0 nothing, 1 quotes, 2 also reads, 3 also creates. */
export type LoadLevel = 0 | 1 | 2 | 3

/** Milliseconds that the first queued read and write have waited for the ledger. */
export interface LedgerWaits {
  readonly readMs: number
  readonly writeMs: number
}

/** The current load of the process. */
export interface Load {
  readonly level: LoadLevel
}

/** The load level from which an operation is rejected. */
const shedAt: Readonly<Record<Op, LoadLevel>> = {
  listCurrencies: 1,
  getRate: 1,
  listTransactions: 2,
  getTransaction: 2,
  createTransaction: 3,
}

const retryAfter = 2

/** From this wait on, new requests that need the ledger are rejected. No request waits longer than twice this time. */
const maxReadWaitMs = 500
const maxCreateWaitMs = 1_000

export interface LoadSheddingOptions {
  readonly load: Load
  readonly ledgerWaits: () => LedgerWaits
  /** Whether reads look up a transaction's owner in the ledger. */
  readonly readsNeedLedger: boolean
}

/** Returns a function that decides whether an operation is rejected now. */
export function loadShedding({ load, ledgerWaits, readsNeedLedger }: LoadSheddingOptions): (op: Op) => boolean {
  const isLedgerBusy = (op: Op): boolean => {
    const { readMs, writeMs } = ledgerWaits()
    if (op === 'createTransaction') return Math.max(readMs, writeMs) >= maxCreateWaitMs
    return readsNeedLedger && shedAt[op] === 2 && readMs >= maxReadWaitMs
  }
  return (op) => load.level >= shedAt[op] || isLedgerBusy(op)
}

/** The `Fault` of a shed request: 503 `overloaded`. */
export function overloaded(): Fault {
  return new Fault('unavailable', 'The service is overloaded; please wait as long as Retry-After says.', {
    retryAfter,
    reason: 'overloaded',
  })
}
