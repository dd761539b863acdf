/** node:v8 and node:os: how near the process is to what it can do, by the lateness of its own timer and by its memory. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Load, LoadLevel } from '../../core/access/load-shedding.ts'

export interface MeasuredLoad extends Load {
  /** How late the timer was twice in the last two seconds, in milliseconds: being late once is no strain. */
  readonly delayMs: number
  /** From now on it counts too how long the first request in line has waited, in milliseconds. */
  readonly addQueueWait: (readWaitMs: () => number) => void
  readonly stop: () => void
}

/** Milliseconds. */
const intervalMs = 50
const sampleCount = 2_000 / intervalMs
/** From these on there is strain 1, 2 and 3: milliseconds of lateness, shares of the heap's limit, milliseconds in line. */
const delayStepsMs = [200, 400, 1_000]
const memoryShareSteps = [0.85, 0.92, 0.97]
const waitStepsMs = [1_000, 2_000, 4_000]

/** What the strain rests on; the clock's own by default. */
export interface LoadSources {
  /** Milliseconds, never going back. */
  readonly now: () => number
  /** Share of the heap's limit, or of what the process may have resident, that is used. */
  readonly memoryShare: () => number
}

export function measureLoad({ now, memoryShare }: LoadSources = processGauges()): MeasuredLoad {
  const samplesMs = new Array<number>(sampleCount).fill(0)
  let at = 0
  let before = now()
  let queueWaitMs = (): number => 0
  const addQueueWait = (readWaitMs: () => number): void => {
    queueWaitMs = readWaitMs
  }
  const measured = { level: 0 as LoadLevel, delayMs: 0, addQueueWait, stop: () => clearInterval(timer) }
  const timer = setInterval(() => {
    const moment = now()
    samplesMs[at++ % sampleCount] = Math.max(0, moment - before - intervalMs)
    before = moment
    measured.delayMs = samplesMs.toSorted((a, b) => b - a)[1] ?? 0
    measured.level = Math.max(
      levelOf(measured.delayMs, delayStepsMs),
      levelOf(memoryShare(), memoryShareSteps),
      levelOf(queueWaitMs(), waitStepsMs),
    ) as LoadLevel
  }, intervalMs)
  timer.unref()
  return measured
}

function levelOf(value: number, steps: readonly number[]): number {
  return steps.filter((step) => value >= step).length
}

/** Beside its heap the process has buffers and code: so many bytes more than the heap's limit may be resident. */
const besideHeap = 512 * 1024 * 1024

/** The limits are read once: each look at those of a container opens its files. */
function processGauges(): LoadSources {
  const { heap_size_limit: heapLimit } = getHeapStatistics()
  const residentLimit = Math.min(heapLimit + besideHeap, process.constrainedMemory() || totalmem(), totalmem())
  const memoryShare = (): number =>
    Math.max(getHeapStatistics().used_heap_size / heapLimit, process.memoryUsage.rss() / residentLimit)
  return { now: () => performance.now(), memoryShare }
}
