/** Longest time that the work blocks the event loop. A request waits for it at each of its own steps. */
const sliceMs = 2
/** The pause after each slice: three quarters of the time are for requests. */
const pauseMs = 6

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
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    began = performance.now()
  }
}

function* steps<Item>(items: Iterable<Item>, work: (item: Item) => void): Generator<void, void> {
  for (const item of items) yield work(item)
}
