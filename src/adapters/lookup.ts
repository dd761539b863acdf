/**
 * node:dns: the system's look-up of names. Each takes a thread of libuv's pool until it ends, whatever the time-out of its caller is
 * (docs/contract-operators.md §8; `lookup.test.ts`). For 0.5 s from its beginning a name is waited for that was silent before. A name that gets no
 * thread, since names without an answer have all that they may take, is unreachable at once. Nothing was sent in any of these cases.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { LookupTimeout } from '../domain/failure-cause.ts'

/** How long an answer is kept. */
const keptMs = 30_000
/** How much longer it is used while the look-up is silent or fails, but never after *no such name*. */
const staleMs = 600_000
/** A look-up without an answer for this long counts as silent. */
const silentMs = 500
/** How long a connection waits for an answer: shorter than its own time-out, which would hide the cause. */
const waitMs = 1_500
const maxNames = 1_000

export type Addresses = readonly LookupAddress[]
type Callback = (reason: Error | null, addresses: Addresses) => void
type System = (hostname: string, options: LookupOptions & { all: true }, callback: Callback) => void

export interface NameLookupOptions {
  /** How many look-ups are under way at most. */
  readonly maxLookups: number
  /** Of these for one account, by `lookupOf`. */
  readonly maxOfAccount?: number
  /** Replaces the system's look-up in tests. */
  readonly system?: System
}

interface Asked {
  readonly hostname: string
  readonly options: LookupOptions
  /** Of a kept answer that may be used. */
  readonly maxAgeMs: number
  readonly account?: string
}

/** The look-ups of a process: one at a time for each name, whose waiters give up by their own time-outs. */
export class NameLookup {
  private readonly threads: Threads
  private readonly system: System
  private readonly names = new Map<string, Name>()

  constructor({ maxLookups, maxOfAccount = maxLookups, system = systemLookup }: NameLookupOptions) {
    this.threads = new Threads(maxLookups, maxOfAccount)
    this.system = system
  }

  /** For connections to providers: an answer is used for 30 s. */
  readonly lookup: LookupFunction = (hostname, options, callback) => this.ask({ hostname, options, maxAgeMs: keptMs }, callback)

  /** For connections to stores, whose names lead to another machine after a failover: a kept answer is used only where no new one comes. */
  readonly freshLookup: LookupFunction = (hostname, options, callback) => this.ask({ hostname, options, maxAgeMs: 0 }, callback)

  /** For connections to receivers of an account, which shares no look-up with another: the names of one keep none of another waiting. */
  lookupOf(account: string): LookupFunction {
    return (hostname, options, callback) => this.ask({ hostname, options, maxAgeMs: 0, account }, callback)
  }

  private ask(asked: Asked, callback: Parameters<LookupFunction>[2]): void {
    const { options, maxAgeMs } = asked
    this.nameOf(asked).ask(maxAgeMs, (reason, addresses) => {
      const [first] = addresses
      if (reason || !first) callback(reason ?? new LookupTimeout(true), [])
      else if (options.all) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }

  private nameOf({ hostname, options, account }: Asked): Name {
    const { family, hints, order, verbatim } = options
    const key = JSON.stringify([hostname, family, hints, order, verbatim, account])
    const known = this.names.get(key)
    const [leastUsed] = this.names.keys()
    if (known) this.names.delete(key)
    else if (leastUsed !== undefined && this.names.size >= maxNames) this.names.delete(leastUsed)
    const lookUp = (callback: Callback): void => this.system(hostname, { ...options, all: true }, callback)
    const name = known ?? new Name((...entrance) => this.threads.enter(account, ...entrance), lookUp)
    this.names.set(key, name)
    return name
  }
}

/** Looked up on each call, since a program that is loaded before may replace it. */
function systemLookup(...args: Parameters<System>): void {
  const [hostname, options, callback] = args
  dns.lookup(hostname, options, callback)
}

interface Answer {
  readonly addresses: Addresses
  readonly at: number
}

/** One name with its last answer, and those who wait for the next one. */
class Name {
  private readonly enter: Enter
  private readonly lookUp: (callback: Callback) => void
  private readonly waiting = new Set<Callback>()
  private answer: Answer | undefined
  /** When the look-up that is under way was asked for. */
  private askedAt: number | undefined
  /** Whether the last look-up got no answer, or this one has let a waiter down. */
  private isDoubtful = false

  constructor(enter: Enter, lookUp: (callback: Callback) => void) {
    this.enter = enter
    this.lookUp = lookUp
  }

  ask(maxAgeMs: number, callback: Callback): void {
    const kept = this.keptFor(maxAgeMs)
    if (kept) return void process.nextTick(callback, null, kept)
    const now = performance.now()
    const askedAt = this.askedAt ?? now
    const isBrief = this.isDoubtful || this.keptFor(keptMs + staleMs)
    const patienceMs = isBrief ? Math.max(0, askedAt + silentMs - now) : waitMs
    const timer = setTimeout(() => {
      this.isDoubtful = true
      this.answerTo(waiter, new LookupTimeout(true))
    }, patienceMs)
    const waiter: Callback = (...result) => {
      clearTimeout(timer)
      callback(...result)
    }
    this.waiting.add(waiter)
    if (this.askedAt === undefined) this.begin(now)
  }

  private begin(now: number): void {
    this.askedAt = now
    this.enter(
      this.isDoubtful,
      (leave) =>
        this.lookUp((reason, addresses) => {
          leave()
          this.isDoubtful = reason !== null && !isNoSuchName(reason)
          this.end(reason, addresses)
        }),
      () => this.end(new LookupTimeout(false), []),
    )
  }

  private end(reason: Error | null, addresses: Addresses): void {
    this.askedAt = undefined
    if (!reason) this.answer = { addresses, at: performance.now() }
    else if (isNoSuchName(reason)) this.answer = undefined
    for (const waiter of [...this.waiting]) this.answerTo(waiter, reason)
  }

  private answerTo(waiter: Callback, reason: Error | null): void {
    this.waiting.delete(waiter)
    const kept = this.keptFor(keptMs + staleMs)
    if (kept) waiter(null, kept)
    else waiter(reason, [])
  }

  private keptFor(maxAgeMs: number): Addresses | undefined {
    const { answer } = this
    return answer && performance.now() - answer.at < maxAgeMs ? answer.addresses : undefined
  }
}

/** Node has this word for EAI_NONAME and EAI_NODATA. */
function isNoSuchName(reason: Error): boolean {
  return 'code' in reason && reason.code === 'ENOTFOUND'
}

type Enter = (isDoubtful: boolean, start: (leave: () => void) => void, refuse: () => void) => void

interface Running {
  readonly account: string | undefined
  readonly startedAt: number
}

interface Queued {
  readonly hasPlace: () => boolean
  readonly admit: () => void
}

/**
 * The threads that look-ups may take, and one account of them. One that gets none soon is refused, and at once if all that have its place
 * are silent. Names without an answer leave one thread to the others.
 */
class Threads {
  private readonly max: number
  private readonly maxOfAccount: number
  private readonly running = new Set<Running>()
  private readonly queue = new Set<Queued>()

  constructor(max: number, maxOfAccount: number) {
    this.max = max
    this.maxOfAccount = maxOfAccount
  }

  enter(account: string | undefined, ...[isDoubtful, start, refuse]: Parameters<Enter>): void {
    const limit = isDoubtful ? Math.max(1, this.max - 1) : this.max
    const ofAccount = (): Running[] => [...this.running].filter((running) => running.account === account)
    const isAtMost = (): boolean => account !== undefined && ofAccount().length >= this.maxOfAccount
    const hasPlace = (): boolean => this.running.size < limit && !isAtMost()
    if (hasPlace()) return void this.start(account, start)
    const now = performance.now()
    const others = isAtMost() ? ofAccount() : [...this.running]
    if (others.every(({ startedAt }) => now - startedAt >= silentMs)) return void process.nextTick(refuse)
    const leaveQueue = (): void => {
      clearTimeout(timer)
      this.queue.delete(queued)
    }
    const queued: Queued = {
      hasPlace,
      admit: () => {
        leaveQueue()
        this.start(account, start)
      },
    }
    const timer = setTimeout(() => {
      leaveQueue()
      refuse()
    }, silentMs)
    this.queue.add(queued)
  }

  private start(account: string | undefined, start: (leave: () => void) => void): void {
    const running: Running = { account, startedAt: performance.now() }
    this.running.add(running)
    start(() => {
      this.running.delete(running)
      this.queue
        .values()
        .find(({ hasPlace }) => hasPlace())
        ?.admit()
    })
  }
}
