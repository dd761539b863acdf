/** How long work holds the event loop before other work of the process has its turn, in milliseconds. */
const sliceMs = 10

/** Does something with each item, in slices. */
export async function inSlices<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - began < sliceMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    began = performance.now()
  }
}
