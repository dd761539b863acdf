/** Who waits for the ledger: accounts take turns, and creates leave connections to the rest (docs/contract.md §10.4). */
import type { LedgerWaits } from '../core/access/admission.ts'
import type { Ledger } from '../core/ledger.ts'
import { withTimeout } from '../domain/async.ts'
import { LedgerBusy } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'

/** How many calls of all accounts run at the same time. */
export interface TurnLimits {
  /** Of creates, before they are sent. */
  readonly creates: number
  /** Of gets and lists; infinite where they wait for nothing. */
  readonly reads: number
}

/** From then on a caller waits no longer for its turn, so that a create has some of its second left for the ledger itself. */
const maxTurnWaitMs = 600
/** The longest wait for a single row. */
const maxWaitMs = 1_000

/** The same ledger, in turns, and the waits of an account. What creates have to store after their response waits for no turn. */
export function inTurns(
  ledger: Ledger,
  turns: TurnLimits,
  observe: Observer,
): { ledger: Ledger; ledgerWaits: (account: string) => LedgerWaits } {
  const creates = new Turns(turns.creates, () => observe({ what: 'turnRefused', work: 'create' }))
  const reads = new Turns(turns.reads, () => observe({ what: 'turnRefused', work: 'read' }))
  const ledgerWaits = (account: string): LedgerWaits => ({ readMs: reads.waitMs(account), writeMs: creates.waitMs(account) })
  const withCreates: Ledger = {
    ...ledger,
    begin: (...args) => creates.run(args[0].owner, () => ledger.begin(...args)),
    keepFirmQuote: (...args) => creates.run(args[0].owner, () => ledger.keepFirmQuote(...args)),
  }
  if (turns.reads === Number.POSITIVE_INFINITY) return { ledger: withCreates, ledgerWaits }
  const withReads: Ledger = {
    ...withCreates,
    findIdempotencyKey: (...args) => reads.run(args[0], () => ledger.findIdempotencyKey(...args)),
    findFirmQuote: (...args) => reads.run(args[0], () => ledger.findFirmQuote(...args)),
    find: (...args) =>
      withTimeout(
        reads.run(args[0], () => ledger.find(...args)),
        maxWaitMs,
        busy,
      ),
    findAll: (...args) => reads.run(args[0], () => ledger.findAll(...args)),
    list: (...args) => reads.run(args[0], () => ledger.list(...args)),
    someOpen: (...args) => reads.run(args[0], () => ledger.someOpen(...args)),
    listElsewhere: (...args) => reads.run(args[0], () => ledger.listElsewhere(...args)),
    upsert: (...args) => reads.run(args[0], () => ledger.upsert(...args)),
  }
  return { ledger: withReads, ledgerWaits }
}

function busy(): never {
  throw new LedgerBusy(`timeout: the ledger has not answered within ${maxWaitMs} ms`)
}

interface Waiting {
  readonly since: number
  readonly begin: () => void
}

/** At most `limit` at a time. Of those that wait, each account has one turn in a round. */
export class Turns {
  private readonly limit: number
  private readonly maxWaitMs: number
  private readonly onRefusal: () => void
  private running = 0
  /** Of accounts that wait, in the order of their next turns. */
  private readonly queues = new Map<string, Set<Waiting>>()

  constructor(limit: number, onRefusal = () => {}, maxWaitMs = maxTurnWaitMs) {
    this.limit = limit
    this.maxWaitMs = maxWaitMs
    this.onRefusal = onRefusal
  }

  /** Rejects with `LedgerBusy` where the turn does not come in time; the work has not begun then. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++
    else await this.turn(account)
    try {
      return await work()
    } finally {
      this.end()
    }
  }

  /** How long the account's first call has waited. */
  waitMs(account: string): number {
    const [first] = this.queues.get(account) ?? []
    return first ? performance.now() - first.since : 0
  }

  private turn(account: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const queue = this.queues.getOrInsertComputed(account, () => new Set())
    const waiting: Waiting = {
      since: performance.now(),
      begin() {
        clearTimeout(timer)
        resolve()
      },
    }
    queue.add(waiting)
    const timer = setTimeout(() => {
      queue.delete(waiting)
      if (queue.size === 0) this.queues.delete(account)
      this.onRefusal()
      reject(new LedgerBusy(`timeout: no turn at the ledger within ${this.maxWaitMs} ms`))
    }, this.maxWaitMs)
    return promise
  }

  /** The place goes to the next one. */
  private end(): void {
    const [next] = this.queues
    if (!next) return void this.running--
    const [account, queue] = next
    this.queues.delete(account)
    const [first] = queue
    if (first) queue.delete(first)
    first?.begin()
    if (queue.size > 0) this.queues.set(account, queue)
  }
}
