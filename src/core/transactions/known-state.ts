/** Responses from the ledger only, for providers that are off or not configured (docs/contract.md §12). */
import { standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Context, ServiceResponse } from '../../domain/service.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'
import { requireStatus } from './default-status.ts'
import { ownerOf } from './owner.ts'
import type { Freshness } from './state/freshness.ts'
import { presented } from './state/merge-transaction.ts'
import { doubtAbout } from './state/payable.ts'

type Details = ServiceResponse<'getTransaction'>

/** The last known state. */
export function fromLedger(entry: LedgerEntry, context: Context): Details {
  return { body: presented(entry, context), provider: entry.provider, derived: entry.derived, doubt: doubtAbout(entry) }
}

/** The last known state with its age in seconds. */
export function staleFromLedger(entry: LedgerEntry, context: Context, freshness: Freshness): Details {
  return { ...fromLedger(entry, context), staleSeconds: Math.floor(freshness.ageSeconds(entry)) }
}

const retryAfter = 60

/** Serves gets with the provider's own keys. Throws `unavailable` if the ledger has no entry for the owner: the transaction may exist. */
export function knownStateOnly(ledger: Ledger, provider: string, freshness: Freshness): Layer {
  return onOperations({
    async getTransaction({ id }, context) {
      const entry = await ledger.find(ownerOf(context), provider, id)
      if (!entry) throw standardFault('unavailable', { retryAfter, noEffect: true })
      return requireStatus(staleFromLedger(entry, context, freshness))
    },
  })
}

export interface UnconfiguredOptions {
  readonly ledger: Ledger
  readonly freshness: Freshness
  readonly observe: Observer
}

/**
 * Gets a transaction of a provider that this configuration lacks: it was removed or renamed, or another replica has a newer file.
 * Throws `notFound` if the ledger has none of the caller's.
 */
export function unconfiguredProviders({ ledger, freshness, observe }: UnconfiguredOptions) {
  return async (tag: string, id: string, context: Context): Promise<Details> => {
    const entry = await ledger.find(ownerOf(context), tag, id)
    if (!entry) throw standardFault('notFound')
    observe({ what: 'cache', cache: 'transaction', outcome: 'stale', ageSeconds: freshness.ageSeconds(entry) })
    return requireStatus(staleFromLedger(entry, context, freshness))
  }
}
