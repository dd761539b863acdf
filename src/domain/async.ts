import { pauseInQuota } from './processor-quota.ts'

/** The largest delay of a timer in Node. A deadline may be infinite. */
export const maxTimerMs = 2_147_483_647

/** Settles like `work`, or after `timeoutMs` with the result of `onTimeout`. The work itself is not cancelled. */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  const timer = setTimeout(resolve, Math.min(Math.max(timeoutMs, 0), maxTimerMs), late)
  try {
    const first = await Promise.race([work, promise])
    return first === late ? onTimeout() : first
  } finally {
    clearTimeout(timer)
  }
}

const late = Symbol('late')

/** The result of `work` within `timeoutMs`; `fallback` if it is late or fails. Never rejects. */
export function withDefault<Result, Default>(
  work: Promise<Result>,
  timeoutMs: number,
  fallback: Default,
): Promise<Result | Default> {
  const safe = work.catch(() => fallback)
  return withTimeout(safe, timeoutMs, () => fallback)
}

interface SingleFlight<Args extends readonly unknown[], Result> {
  /** Concurrent calls share one result or failure. The arguments of the first call are used. */
  readonly run: (...args: Args) => Promise<Result>
  readonly isRunning: () => boolean
}

/** Runs `work` at most once at a time. */
export function singleFlight<Args extends readonly unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): SingleFlight<Args, Result> {
  let current: Promise<Result> | undefined
  return {
    run(...args) {
      current ??= work(...args).finally(() => {
        current = undefined
      })
      return current
    },
    isRunning: () => current !== undefined,
  }
}

/** Longest time that the work blocks the event loop. A request waits for it at each of its own steps. */
const sliceMs = 2
/** The pause after each slice, but in a quota: three quarters of the time are for requests. */
const pauseMs = 6

/** Between two pieces of long work without a wait: the event loop has a turn, and a quota in which it runs its pause. */
export function pause(): Promise<void> {
  return pauseInQuota(() => new Promise((resolve) => void setImmediate(resolve)))
}

/** Runs `work` for each item in slices of 2 ms, with pauses in which the event loop is free. */
export function inSlices<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  return runInSlices(steps(items, work))
}

/** Runs the steps to their end, in the same slices. Throws what a step throws. */
export async function runInSlices<Result>(steps: Iterator<void, Result>): Promise<Result> {
  let began = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - began < sliceMs) continue
    await pauseInQuota(() => new Promise((resolve) => void setTimeout(resolve, pauseMs)))
    began = performance.now()
  }
}

function* steps<Item>(items: Iterable<Item>, work: (item: Item) => void): Generator<void, void> {
  for (const item of items) yield work(item)
}

/**
 * Keeps the first result of `work` for all later calls; calls that wait at the same time share one run. A failure is not kept: the next
 * call tries again.
 */
export function memoize<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work().catch((reason) => {
      result = undefined
      throw reason
    })
    return result
  }
}

/** Runs `work` for every item, with at most `concurrency` at a time. Rejects with the first failure. */
export async function forEachConcurrently<Item>(
  concurrency: number,
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const remaining = items.entries()
  const worker = async (): Promise<void> => {
    for (const [at, item] of remaining) await work(item, at)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}

/**
 * Runs `work` for each entry at the same time, and leaves out those whose name is `busy` with an earlier call. All end before it rejects
 * with the first failure.
 */
export async function eachAlone<Item>(
  busy: Set<string>,
  items: ReadonlyMap<string, Item>,
  work: (item: Item, name: string) => Promise<void>,
): Promise<void> {
  const free = [...items].filter(([name]) => !busy.has(name))
  const ends = await Promise.allSettled(
    free.map(([name, item]) => {
      busy.add(name)
      return work(item, name).finally(() => busy.delete(name))
    }),
  )
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}
