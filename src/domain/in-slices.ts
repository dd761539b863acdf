/** Longest time that the work blocks the event loop. */
const sliceMs = 10

/** Runs `work` for each item, and yields to the event loop after each slice of 10 ms. */
export function inSlices<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  return runInSlices(steps(items, work))
}

/** Runs the steps to their end, and yields to the event loop after each slice of 10 ms. Throws what a step throws. */
export async function runInSlices<Result>(steps: Iterator<void, Result>): Promise<Result> {
  let began = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - began < sliceMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    began = performance.now()
  }
}

function* steps<Item>(items: Iterable<Item>, work: (item: Item) => void): Generator<void, void> {
  for (const item of items) yield work(item)
}
