/** node:v8 and node:os: how near the process is to what it can do, by the lateness of its own timer and by its memory. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Load, Strain } from '../core/shedding.ts'

export interface MeasuredLoad extends Load {
  /** How late the timer was twice in the last two seconds, in milliseconds: being late once is no strain. */
  readonly delay: number
  /** From now on it counts too how long the first request in line has waited, in milliseconds. */
  readonly watch: (wait: () => number) => void
  readonly stop: () => void
}

/** Milliseconds. */
const interval = 50
const memory = 2_000 / interval
/** From these on there is strain 1, 2 and 3: milliseconds of lateness, shares of the heap's limit, milliseconds in line. */
const delays = [200, 400, 1_000]
const shares = [0.85, 0.92, 0.97]
const waits = [1_000, 2_000, 4_000]

/** What the strain rests on; the clock's own by default. */
export interface Gauges {
  /** Milliseconds, never going back. */
  readonly now: () => number
  /** Share of the heap's limit, or of what the process may have resident, that is used. */
  readonly memoryShare: () => number
}

export function measureLoad({ now, memoryShare }: Gauges = processGauges()): MeasuredLoad {
  const latenesses = new Array<number>(memory).fill(0)
  let at = 0
  let before = now()
  let waited = (): number => 0
  const watch = (wait: () => number): void => {
    waited = wait
  }
  const measured = { strain: 0 as Strain, delay: 0, watch, stop: () => clearInterval(timer) }
  const timer = setInterval(() => {
    const moment = now()
    latenesses[at++ % memory] = Math.max(0, moment - before - interval)
    before = moment
    measured.delay = latenesses.toSorted((a, b) => b - a)[1] ?? 0
    measured.strain = Math.max(levelOf(measured.delay, delays), levelOf(memoryShare(), shares), levelOf(waited(), waits)) as Strain
  }, interval)
  timer.unref()
  return measured
}

function levelOf(value: number, steps: readonly number[]): number {
  return steps.filter((step) => value >= step).length
}

/** Beside its heap the process has buffers and code: so many bytes more than the heap's limit may be resident. */
const besideHeap = 512 * 1024 * 1024

/** The limits are read once: each look at those of a container opens its files. */
function processGauges(): Gauges {
  const { heap_size_limit: heapLimit } = getHeapStatistics()
  const residentLimit = Math.min(heapLimit + besideHeap, process.constrainedMemory() || totalmem(), totalmem())
  const memoryShare = (): number =>
    Math.max(getHeapStatistics().used_heap_size / heapLimit, process.memoryUsage.rss() / residentLimit)
  return { now: () => performance.now(), memoryShare }
}
