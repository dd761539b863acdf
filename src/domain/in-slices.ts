/** Longest time that the work blocks the event loop. */
const sliceMs = 10

/** Runs `work` for each item, and yields to the event loop after each slice of 10 ms. */
export async function inSlices<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - began < sliceMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    began = performance.now()
  }
}
