/** node:async_hooks: work that has a fifth of the process' time at most, however many ask for it (docs/contract-operators.md §13, §15). */
import { AsyncLocalStorage } from 'node:async_hooks'

/** So many times as long as a phase kept the processor, no other begins. */
const pauseShare = 4
/** Reading a request and sending its response are outside of its phases. */
const leastMs = 0.5
/** While a phase waits for the ledger, what others take counts for it: no more than this. */
const mostMs = 100
/** Phases begin one after another; one that waits keeps the next one no longer than this. */
const maxAloneMs = 20

/** What is done between two pauses. */
interface Phase {
  readonly quota: ProcessorQuota
  /** Who asked for it. */
  readonly owner: string
  /** CPU time of the thread when it began, in milliseconds; undefined before. */
  beganAt: number | undefined
  isOver: boolean
}

const current = new AsyncLocalStorage<Phase>()

interface Waiting {
  readonly phase: Phase
  readonly began: PromiseWithResolvers<void>
}

/** Between two pieces of long work: until the quota in which it runs has time for the next one; without a quota, `otherwise`. */
export async function pauseInQuota(otherwise: () => Promise<void>): Promise<void> {
  const phase = current.getStore()
  if (!phase || phase.isOver) return await otherwise()
  phase.quota.end(phase)
  await phase.quota.begin(phase)
}

/** `cpuMs`: the CPU time of the process' thread so far. */
export class ProcessorQuota {
  private readonly cpuMs: () => number
  /** By their owners, who have turns. */
  private readonly waiting = new Map<string, Waiting[]>()
  /** How much work of each owner waits or is under way. */
  private readonly counts = new Map<string, number>()
  private timer: NodeJS.Timeout | undefined
  private pausedUntil = Number.NEGATIVE_INFINITY
  private alone: { readonly phase: Phase; readonly until: number } | undefined
  /** CPU time up to which a phase has counted it: of phases at the same time each counts what the others have not. */
  private countedUntil = 0

  constructor(cpuMs: () => number = threadMs) {
    this.cpuMs = cpuMs
  }

  /**
   * `work` is a phase, or as many as its pauses make of it. Owners have turns, however much each of them asks for. Work that has not begun
   * when `left` is aborted does not begin: it throws the reason of that.
   */
  async run<Result>(owner: string, work: () => Promise<Result>, left?: AbortSignal): Promise<Result> {
    left?.throwIfAborted()
    const phase: Phase = { quota: this, owner, beganAt: undefined, isOver: false }
    this.counts.set(owner, this.countOf(owner) + 1)
    try {
      await this.begin(phase, left)
      return await current.run(phase, work)
    } finally {
      phase.isOver = true
      this.end(phase)
      this.counts.set(owner, this.countOf(owner) - 1)
      if (this.countOf(owner) === 0) this.counts.delete(owner)
    }
  }

  /** How much of this owner's work waits or is under way. */
  countOf(owner: string): number {
    return this.counts.get(owner) ?? 0
  }

  /** How much work of all owners waits or is under way. */
  get count(): number {
    return this.counts.values().reduce((sum, count) => sum + count, 0)
  }

  /** Runs `work` for all who ask, one run at a time: each gets what a run returns that began after it asked. */
  shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
    let free: Promise<unknown> = Promise.resolve()
    let next: Promise<Result> | undefined
    const run = () =>
      this.run('', () => {
        next = undefined
        return work()
      })
    return () => {
      if (next) return next
      next = free.then(run)
      free = next.catch(() => {})
      return next
    }
  }

  begin(phase: Phase, left?: AbortSignal): Promise<void> {
    const waiting = { phase, began: Promise.withResolvers<void>() }
    this.waiting.getOrInsertComputed(phase.owner, () => []).push(waiting)
    left?.addEventListener('abort', () => this.remove(waiting) && waiting.began.reject(left.reason), { once: true })
    this.beginNext()
    return waiting.began.promise
  }

  end(phase: Phase): void {
    if (phase.beganAt === undefined) return // its client left before
    const cpuMs = this.cpuMs()
    const own = Math.min(Math.max(cpuMs - Math.max(phase.beganAt, this.countedUntil), leastMs), mostMs)
    this.countedUntil = cpuMs
    this.pausedUntil = Math.max(this.pausedUntil, performance.now()) + pauseShare * own
    if (this.alone?.phase === phase) this.alone = undefined
    this.beginNext()
  }

  private beginNext(): void {
    clearTimeout(this.timer)
    if (this.waiting.size === 0) return
    const now = performance.now()
    const waitMs = Math.max(this.pausedUntil, this.alone?.until ?? now) - now
    if (waitMs > 0) {
      this.timer = setTimeout(() => this.beginNext(), Math.ceil(waitMs)).unref()
      return
    }
    const [[next] = []] = this.waiting.values()
    if (!next) return
    this.remove(next)
    next.phase.beganAt = this.cpuMs()
    this.alone = { phase: next.phase, until: now + maxAloneMs }
    next.began.resolve()
    this.beginNext()
  }

  /** Its owner comes after all others. False: it was not there any more. */
  private remove(waiting: Waiting): boolean {
    const { owner } = waiting.phase
    const own = this.waiting.get(owner) ?? []
    const rest = own.filter((each) => each !== waiting)
    this.waiting.delete(owner)
    if (rest.length > 0) this.waiting.set(owner, rest)
    return rest.length < own.length
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
