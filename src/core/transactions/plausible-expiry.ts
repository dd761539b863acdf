/** Until when a provider waits for a deposit, by its own words: an expiry that cannot be right is none (docs/contract.md §3.6). */
import { instantsOf, millisecondsOf } from '../../domain/instant.ts'
import type { Transaction } from '../../domain/swap.ts'
import type { Clock } from '../clock.ts'
import { type Layer, mapResponses } from '../layer.ts'
import type { ProviderLayerOptions } from '../layer-options.ts'

export interface PlausibleExpiryOptions extends ProviderLayerOptions {
  readonly clock: Clock
  /** Of the provider's times without a zone: `providers.<name>.timezone` (default: UTC). */
  readonly timezone?: string | undefined
}

/** No provider waits longer. */
const longestWaitMs = 60 * 86_400_000

/**
 * Writes `validUntil` as an RFC 3339 timestamp in UTC. One that cannot be read, is not after the creation, or is more than 60 days after
 * it is left out, and counted. A create happens now; a get or a row of a list has its time.
 */
export function plausibleExpiry({ provider, clock, timezone, observe }: PlausibleExpiryOptions): Layer {
  const judged = (row: Transaction, timeOfCreation: () => number | undefined): Transaction => {
    const { validUntil } = row
    if (validUntil === undefined) return row
    const at = latestOf(validUntil, timezone)
    const createdAt = timeOfCreation()
    const isPlausible = at !== undefined && createdAt !== undefined && at > createdAt && at - createdAt <= longestWaitMs
    if (isPlausible) return { ...row, validUntil: new Date(at).toISOString() }
    observe({ what: 'drift', provider, field: 'validUntil', drift: 'implausible' })
    return { ...row, validUntil: undefined }
  }
  const reported = (row: Transaction): Transaction => judged(row, () => millisecondsOf(row.createdAt, timezone))
  return mapResponses({
    createTransaction: (response) => ({ ...response, body: judged(response.body, clock) }),
    getTransaction: (response) => ({ ...response, body: reported(response.body) }),
    listTransactions: (response) => ({ ...response, body: { ...response.body, items: response.body.items.map(reported) } }),
  })
}

/** In milliseconds. Of two readings of one clock time the later one is safe. */
function latestOf(text: string, timezone?: string): number | undefined {
  const readings = instantsOf(text, timezone).map((instant) => Number(instant / 1_000_000n))
  return readings.length === 0 ? undefined : Math.max(...readings)
}
