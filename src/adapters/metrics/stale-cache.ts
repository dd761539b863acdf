import { singleFlight, withTimeout } from '../../domain/async.ts'

/** How long a value is fresh. */
const lifetimeMs = 10_000
/** Maximum wait of a caller; a later value is for the next call. */
const timeoutMs = 500

/** Caches `read`. Calls it again when the value is old, and returns the previous value while that fails or is slow. */
export function staleCache<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let latest: T | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  const renewal = singleFlight(async () => {
    try {
      latest = await read()
    } catch {
      // The previous value stays. Other users of the ledger report the failure.
    } finally {
      fetchedAt = performance.now()
    }
  })
  return async () => {
    if (performance.now() - fetchedAt >= lifetimeMs) await withTimeout(renewal.run(), timeoutMs, () => {})
    return latest
  }
}
