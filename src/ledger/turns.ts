/** Who waits for the ledger: accounts take turns, and creates leave connections to the rest (docs/contract-operators.md §10.4). */
import type { LedgerWaits } from '../core/access/admission.ts'
import { withTimeout } from '../domain/async.ts'
import { LedgerBusy } from '../domain/fault.ts'
import { Turns } from '../domain/turns.ts'

/** How many calls of all accounts run at the same time. */
export interface TurnLimits {
  /** Of creates, before they are sent. */
  readonly creates: number
  /** Of gets and lists; infinite where they wait for nothing. */
  readonly reads: number
}

/** From then on a caller waits no longer for its turn, so that a create has some of its second left for the ledger itself. */
const maxTurnWaitMs = 600
/** The longest wait for a single row, and for the beginning of a create. */
const maxWaitMs = 1_000

/** What creates have to store after their response waits for no turn. Without `onRefused` nothing does. */
export class LedgerTurns {
  private readonly creates: Turns | undefined
  private readonly reads: Turns | undefined

  constructor({ creates, reads }: TurnLimits, onRefused?: (work: 'create' | 'read') => void) {
    if (!onRefused) return
    this.creates = new Turns(creates, { maxWaitMs: maxTurnWaitMs, onRefusal: () => onRefused('create') })
    if (Number.isFinite(reads)) this.reads = new Turns(reads, { maxWaitMs: maxTurnWaitMs, onRefusal: () => onRefused('read') })
  }

  /** Of the account's first read and create. */
  waits(account: string): LedgerWaits {
    return { readMs: this.reads?.waitMs(account) ?? 0, writeMs: this.creates?.waitMs(account) ?? 0 }
  }

  /** Rejects with `LedgerBusy` where the turn does not come in time, as all of these. */
  begin(account: string, work: () => Promise<boolean>): Promise<boolean> {
    if (!this.creates) return work()
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    // After its request a silent server does not keep its turn.
    const inTurn = () => withTimeout(work().then(resolve, reject), maxWaitMs, () => undefined)
    this.creates.run(account, inTurn).catch(reject)
    return promise
  }

  create<T>(account: string, work: () => Promise<T>): Promise<T> {
    return this.creates?.run(account, work) ?? work()
  }

  read<T>(account: string, work: () => Promise<T>): Promise<T> {
    return this.reads?.run(account, work) ?? work()
  }

  /** Waits no longer than a second for the row, either. */
  readRow<T>(account: string, work: () => Promise<T>): Promise<T> {
    if (!this.reads) return work()
    return withTimeout(this.reads.run(account, work), maxWaitMs, () => {
      throw new LedgerBusy(`timeout: the ledger has not answered within ${maxWaitMs} ms`)
    })
  }
}
