/** Does the work for every item, so many at a time; the workers share one iterator, so each item is taken by one of them. */
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
