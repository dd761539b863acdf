/** Who waits for the ledger: of those that wait, each account has one turn in a round. */
import { LedgerBusy } from './fault.ts'

interface TurnsOptions {
  /** From then on nobody waits for a turn; by default each waits until it comes. */
  readonly maxWaitMs?: number
  readonly onRefusal?: () => void
}

interface Waiting {
  readonly since: number
  readonly begin: () => void
}

/** At most `limit` at a time. */
export class Turns {
  private readonly limit: number
  private readonly options: TurnsOptions
  private running = 0
  /** Of accounts that wait, in the order of their next turns. */
  private readonly queues = new Map<string, Set<Waiting>>()
  /** These have the next turns, whatever their accounts. */
  private readonly urgent = new Set<Waiting>()

  constructor(limit: number, options: TurnsOptions = {}) {
    this.limit = limit
    this.options = options
  }

  /** Rejects with `LedgerBusy` where the turn does not come in time; the work has not begun then. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++
    else await this.turn(account)
    return await this.ended(work)
  }

  /** The same before all accounts, and however long it waits. */
  async runFirst<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++
    else await new Promise<void>((begin) => void this.urgent.add({ since: performance.now(), begin }))
    return await this.ended(work)
  }

  /** How long the account's first call has waited. */
  waitMs(account: string): number {
    const [first] = this.queues.get(account) ?? []
    return first ? performance.now() - first.since : 0
  }

  private async ended<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      this.end()
    }
  }

  private turn(account: string): Promise<void> {
    const { maxWaitMs, onRefusal } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const queue = this.queues.getOrInsertComputed(account, () => new Set())
    const refuse = (): void => {
      queue.delete(waiting)
      if (queue.size === 0) this.queues.delete(account)
      onRefusal?.()
      reject(new LedgerBusy(`timeout: no turn at the ledger within ${maxWaitMs} ms`))
    }
    const timer = maxWaitMs === undefined ? undefined : setTimeout(refuse, maxWaitMs)
    const waiting: Waiting = {
      since: performance.now(),
      begin() {
        clearTimeout(timer)
        resolve()
      },
    }
    queue.add(waiting)
    return promise
  }

  /** The place goes to the next one. */
  private end(): void {
    const [urgent] = this.urgent
    if (urgent) {
      this.urgent.delete(urgent)
      urgent.begin()
      return
    }
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
