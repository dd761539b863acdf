/** How long what was read serves, in milliseconds. */
const lifetime = 10_000
/** The longest that a reader waits; what comes later serves the next one. */
const patience = 500

/** What `read` gave last: read again when it is old, once for all who ask, and what was known before where it fails or is slow. */
export function lastKnown<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let known: T | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  const renew = async (): Promise<void> => {
    try {
      known = await read()
    } catch {
      // What was known serves on; the failure is seen where the ledger is used.
    } finally {
      readAt = performance.now()
      reading = undefined
    }
  }
  return async () => {
    if (performance.now() - readAt < lifetime) return known
    reading ??= renew()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patience)
    await Promise.race([reading, promise])
    clearTimeout(timer)
    return known
  }
}
