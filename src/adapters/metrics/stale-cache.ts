import { singleFlight } from '../../domain/single-flight.ts'
import { withTimeout } from '../../domain/with-timeout.ts'

/** How long a value serves, in milliseconds. */
const lifetimeMs = 10_000
/** The longest that a reader waits; what comes later serves the next one. */
const timeoutMs = 500

/** The latest value of `read`. It is read again when it is old, and the previous one serves while that fails or is slow. */
export function staleCache<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let latest: T | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  const renewal = singleFlight(async () => {
    try {
      latest = await read()
    } catch {
      // The previous value serves on; the failure is seen where the ledger is used.
    } finally {
      fetchedAt = performance.now()
    }
  })
  return async () => {
    if (performance.now() - fetchedAt >= lifetimeMs) await withTimeout(renewal.run(), timeoutMs, () => {})
    return latest
  }
}
