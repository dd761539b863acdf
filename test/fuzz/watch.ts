/** How long each part of the fuzzer runs, and what it may cost the process that it is run against. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { expect } from 'vitest'

/** Of all parts together: a minute, or as many seconds as are wanted. */
const seconds = Number(process.env.SWAPGATE_FUZZ ?? 50)
const parts = 5
export const partMs = (seconds * 1_000) / parts
/** For the runner: a part, and as much again for what is shrunk. */
export const timeout = 2 * partMs + 30_000

const sampleMs = 10
const maxHoldMs = 100
const maxGrowthMb = 60

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapMb(): number {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/**
 * The time for which this thread was busy without a turn of its loop, in milliseconds. A busy machine makes turns late without
 * making them long, so the processor time of the thread bounds it.
 */
class LoopWatch {
  /** Several parts may run side by side. */
  private static readonly running = new Set<LoopWatch>()
  private longestMs = 0
  private at = performance.now()
  private cpu = process.threadCpuUsage()
  private readonly timer = setInterval(() => this.sample(), sampleMs)

  constructor() {
    LoopWatch.running.add(this)
  }

  /** The longest such time since the last call. */
  takeLongestMs(): number {
    this.sample()
    const longest = this.longestMs
    this.longestMs = 0
    return longest
  }

  stop(): void {
    clearInterval(this.timer)
    LoopWatch.running.delete(this)
  }

  /** Runs what the rig does with the whole process, outside all measurements. */
  static pausedFor<Result>(work: () => Result): Result {
    for (const watch of LoopWatch.running) watch.sample()
    const result = work()
    for (const watch of LoopWatch.running) watch.restart()
    return result
  }

  private sample(): void {
    const { user, system } = process.threadCpuUsage(this.cpu)
    this.longestMs = Math.max(this.longestMs, Math.min(performance.now() - this.at, (user + system) / 1_000))
    this.restart()
  }

  private restart(): void {
    this.at = performance.now()
    this.cpu = process.threadCpuUsage()
  }
}

/** What the values of one part cost the thread. */
class Holds {
  longestMs = 0
  repeats = 0
  private readonly watch = new LoopWatch()

  stop(): void {
    this.watch.stop()
  }

  /** Checks the value. A slow value holds the loop each time, the collection of a whole heap once: so what held it is repeated. */
  async check(work: () => Promise<void>): Promise<void> {
    let least = await this.heldMs(work)
    for (let again = 0; again < 2 && least >= maxHoldMs; again++) {
      this.repeats++
      least = Math.min(least, await this.heldMs(work))
    }
    this.longestMs = Math.max(this.longestMs, least)
    expect(least, 'milliseconds without a turn of the loop').toBeLessThan(maxHoldMs)
  }

  private async heldMs(work: () => Promise<void>): Promise<number> {
    this.watch.takeLongestMs()
    await work()
    return this.watch.takeLongestMs()
  }
}

/** Runs the property for one part's time. No value holds the loop, and afterwards memory is where it was half-way. */
export async function fuzz<Value>(arbitrary: fc.Arbitrary<Value>, check: (value: Value) => Promise<void>): Promise<number> {
  let runs = 0
  const holds = new Holds()
  const property = fc.asyncProperty(arbitrary, async (value) => {
    runs++
    await holds.check(() => check(value))
  })
  const first = Number(process.env.SWAPGATE_SEED ?? Date.now() % 2 ** 31)
  let seed = first
  const runFor = async (ms: number): Promise<void> => {
    for (const end = performance.now() + ms; performance.now() < end; seed++) await fc.assert(property, { numRuns: 10, seed })
  }
  try {
    await runFor(0.5 * partMs)
    // The collection of a whole heap takes longer than any request may.
    const before = LoopWatch.pausedFor(heapMb)
    await runFor(0.5 * partMs)
    const growth = LoopWatch.pausedFor(heapMb) - before
    console.info({
      seed: first,
      runs,
      repeats: holds.repeats,
      maxHoldMs: Math.round(holds.longestMs),
      heapGrowthMb: Math.round(growth),
    })
    expect(runs).toBeGreaterThan(10)
    expect(growth).toBeLessThan(maxGrowthMb)
    expect(holds.repeats, 'collections of the heap are rare').toBeLessThan(runs / 20)
  } finally {
    holds.stop()
  }
  return runs
}
