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
