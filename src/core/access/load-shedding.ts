/** Load shedding before any work is done (docs/contract.md §6, 503): quotes first, creates last, and who sends most before the others. */

import type { Caller } from '../../domain/service.ts'
import { keyed, type Op } from '../../domain/service.ts'
import type { SteadyClock } from '../clock.ts'

/** What is shed: 0 nothing, 1 quotes, 2 also reads, 3 also creates. */
export type LoadLevel = 0 | 1 | 2 | 3

/** Milliseconds that the first queued read and write have waited for the ledger, of one account or of all. */
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

/** From this wait on, new requests of the account that need the ledger are rejected. None waits longer than twice this time. */
const maxWaitMs = 500

export interface LoadSheddingOptions {
  readonly load: Load
  readonly ledgerWaits: (account: string) => LedgerWaits
  /** Whether reads look up a transaction's owner in the ledger. */
  readonly readsNeedLedger: boolean
  readonly clock: SteadyClock
}

/** Returns a function that decides whether an operation of a caller is rejected now. `subject`: whom it counts for. */
export function loadShedding({ load, ledgerWaits, readsNeedLedger, clock }: LoadSheddingOptions) {
  const shares = new CallerShares(clock)
  const isShedByLoad = (op: Op, subject: string): boolean => {
    if (load.level === 0) return false
    const level = shares.hasEqualShare(subject, costs[op]) ? load.level : load.level - 1
    return load.level === 3 || level >= shedAt[op]
  }
  const isLedgerBusy = (op: Op, account: string): boolean => {
    if (!keyed.has(op)) return false
    const isCreate = op === 'createTransaction'
    if (!isCreate && !readsNeedLedger) return false
    const { readMs, writeMs } = ledgerWaits(account)
    return (isCreate ? writeMs : readMs) >= maxWaitMs
  }
  return (op: Op, { identity }: Caller, subject: string): boolean =>
    isShedByLoad(op, subject) || (identity !== undefined && isLedgerBusy(op, identity))
}

/** About what an operation takes of the process, in gets. */
const costs: Readonly<Record<Op, number>> = {
  listCurrencies: 1,
  getRate: 1,
  listTransactions: 2,
  getTransaction: 1,
  createTransaction: 5,
}

const shareWindowMs = 1_000
/** A bound on memory. Further callers count as if they had an equal share. */
const maxCallers = 10_000

/** What callers have sent in this second and the last one, while the process is overloaded. */
class CallerShares {
  private readonly clock: SteadyClock
  private current = new Map<string, number>()
  private last = new Map<string, number>()
  private total = { current: 0, last: 0 }
  private startedAt = Number.NEGATIVE_INFINITY

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  /** Adds a request. True if the caller has sent an equal share or more. */
  hasEqualShare(subject: string, cost: number): boolean {
    this.turn(this.clock())
    this.total.current += cost
    const own = (this.current.get(subject) ?? 0) + cost
    if (own === cost && this.current.size >= maxCallers) return true
    this.current.set(subject, own)
    const callers = Math.max(this.current.size, this.last.size)
    return (own + (this.last.get(subject) ?? 0)) * callers >= this.total.current + this.total.last
  }

  private turn(now: number): void {
    const age = now - this.startedAt
    if (age < shareWindowMs) return
    const isNext = age < 2 * shareWindowMs
    this.last = isNext ? this.current : new Map()
    this.total = { current: 0, last: isNext ? this.total.current : 0 }
    this.current = new Map()
    this.startedAt = now
  }
}
