/** Does the work for every item, so many at a time; the workers share one iterator, so each item is taken by one of them. */
export async function atMost<Item>(
  most: number,
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [at, item] of waiting) await work(item, at)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
}
