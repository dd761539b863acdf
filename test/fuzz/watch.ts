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
 * The longest time for which this thread was busy without a turn of its loop, in milliseconds. A busy machine makes turns late
 * without making them long, so the processor time of the thread bounds it.
 */
class LoopWatch {
  /** Several parts may run side by side. */
  private static readonly running = new Set<LoopWatch>()
  longestMs = 0
  private at = performance.now()
  private cpu = process.threadCpuUsage()
  private readonly timer = setInterval(() => this.sample(), sampleMs)

  constructor() {
    LoopWatch.running.add(this)
  }

  stop(): void {
    this.sample()
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

/** Runs the property for one part's time; afterwards the loop was never held, and memory is where it was half-way. */
export async function fuzz<Value>(arbitrary: fc.Arbitrary<Value>, check: (value: Value) => Promise<void>): Promise<number> {
  let runs = 0
  const property = fc.asyncProperty(arbitrary, async (value) => {
    runs++
    await check(value)
  })
  const first = Number(process.env.SWAPGATE_SEED ?? Date.now() % 2 ** 31)
  let seed = first
  const runFor = async (ms: number): Promise<void> => {
    for (const end = performance.now() + ms; performance.now() < end; seed++) await fc.assert(property, { numRuns: 10, seed })
  }
  // The first runs load and compile what the later ones use.
  await runFor(0.1 * partMs)
  const watch = new LoopWatch()
  await runFor(0.4 * partMs)
  // The collection of a whole heap takes longer than any request may.
  const before = LoopWatch.pausedFor(heapMb)
  await runFor(0.5 * partMs)
  watch.stop()
  const growth = LoopWatch.pausedFor(heapMb) - before
  console.info({ seed: first, runs, maxHoldMs: Math.round(watch.longestMs), heapGrowthMb: Math.round(growth) })
  expect(runs).toBeGreaterThan(10)
  expect(growth).toBeLessThan(maxGrowthMb)
  expect(watch.longestMs).toBeLessThan(maxHoldMs)
  return runs
}
