/** node:v8 and node:os: measures the load of the process by timer delay, memory and queue time. */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Load, LoadLevel } from '../../core/access/admission.ts'

export interface MeasuredLoad extends Load {
  /** The second-longest timer delay of the last two seconds: one delay alone is no load. */
  readonly delayMs: number
  /** From now on requests come: what the start took is no load. `readWaitMs`: the waiting time of the first queued one. */
  readonly begin: (readWaitMs: () => number) => void
  readonly stop: () => void
}

/** Milliseconds. */
const intervalMs = 50
const sampleCount = 2_000 / intervalMs
/** Thresholds of load levels 1, 2 and 3: timer delay (ms), share of the memory limit, queue time (ms). */
const delayStepsMs = [200, 400, 1_000]
const memoryShareSteps = [0.85, 0.92, 0.97]
const waitStepsMs = [1_000, 2_000, 4_000]

const levels: readonly LoadLevel[] = [0, 1, 2, 3]

/** The inputs of the measurement, for tests. */
export interface LoadSources {
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
  /** The used share of the heap limit or of the limit of resident memory, whichever is higher. */
  readonly memoryShare: () => number
}

export function measureLoad({ now, memoryShare }: LoadSources): MeasuredLoad {
  const samplesMs = new Array<number>(sampleCount).fill(0)
  let at = 0
  let before = now()
  let queueWaitMs = (): number => 0
  const measured: MeasuredLoad & { level: LoadLevel; delayMs: number } = {
    level: 0,
    delayMs: 0,
    begin(readWaitMs) {
      queueWaitMs = readWaitMs
      samplesMs.fill(0)
      before = now()
      measured.level = 0
      measured.delayMs = 0
    },
    stop: () => clearInterval(timer),
  }
  const timer = setInterval(() => {
    const sampledAt = now()
    samplesMs[at++ % sampleCount] = Math.max(0, sampledAt - before - intervalMs)
    before = sampledAt
    measured.delayMs = samplesMs.toSorted((a, b) => b - a)[1] ?? 0
    const level = Math.max(
      levelOf(measured.delayMs, delayStepsMs),
      levelOf(memoryShare(), memoryShareSteps),
      levelOf(queueWaitMs(), waitStepsMs),
    )
    measured.level = levels[level] ?? 3
  }, intervalMs)
  timer.unref()
  return measured
}

function levelOf(value: number, steps: readonly number[]): number {
  return steps.filter((step) => value >= step).length
}

/** Bytes of buffers and code that the process may need besides its heap. */
const besideHeap = 512 * 1024 * 1024

/** Resident memory is read at every fourth sample: each read opens a file. */
const residentInterval = 4

/** Reads the limits once: each read of a container's limits opens files. `processes`: how many share the memory. */
export function processGauges(processes = 1): LoadSources {
  const { heap_size_limit: heapLimit } = getHeapStatistics()
  const residentLimit = Math.min(
    heapLimit + besideHeap,
    (process.constrainedMemory() || totalmem()) / processes,
    totalmem() / processes,
  )
  let resident = 0
  let reads = 0
  const memoryShare = (): number => {
    if (reads++ % residentInterval === 0) resident = readResident() ?? resident
    return Math.max(getHeapStatistics().used_heap_size / heapLimit, resident / residentLimit)
  }
  return { now: () => performance.now(), memoryShare }
}

/**
 * Bytes of resident memory that only this process can give back; undefined if the system's file cannot be opened, as where the
 * process has no more files. Pages of files, such as the program, are not among them: a container that is full drops those first.
 */
function readResident(): number | undefined {
  try {
    if (process.platform !== 'linux') return process.memoryUsage.rss()
    const kibibytes = /^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
    return kibibytes === undefined ? process.memoryUsage.rss() : Number(kibibytes) * 1024
  } catch {
    return undefined
  }
}
