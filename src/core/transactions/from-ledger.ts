/** Responses from the ledger only, for providers that are off or not configured (docs/contract-operators.md §12). */

import type { AbsentSwaps } from '../../domain/absent-swaps.ts'
import { standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import { type Context, ownerOf, type ServiceResponse } from '../../domain/service.ts'
import type { Freshness } from '../freshness.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { JournaledLedger, LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { doubtAbout } from '../visible-state.ts'
import { requireStatus } from './derive-fields.ts'
import { presented } from './merge-transaction.ts'

type Details = ServiceResponse<'getTransaction'>

/** The last known state. */
export function fromLedger(entry: LedgerEntry, context: Context): Details {
  return { ...presented(entry, context), provider: entry.provider, doubt: doubtAbout(entry) }
}

/** The last known state with its age in seconds. */
export function staleFromLedger(entry: LedgerEntry, context: Context, freshness: Freshness): Details {
  return { ...fromLedger(entry, context), staleSeconds: Math.floor(freshness.ageSeconds(entry)) }
}

const retryAfter = 60

/** Serves gets with the provider's own keys. Throws `unavailable` if the ledger has no entry for the owner: the transaction may exist. */
export function knownStateOnly({ ledger, tag, freshness }: ProviderScope): Layer {
  return onOperations({
    async getTransaction({ id }, context) {
      const entry = await ledger.find(ownerOf(context), tag, id)
      if (!entry) throw standardFault('unavailable', { retryAfter, effect: 'refused' })
      return requireStatus(staleFromLedger(entry, context, freshness))
    },
  })
}

/**
 * Gets a transaction of a provider that this configuration lacks: it was removed or renamed, or another replica has a newer file.
 * Throws `notFound` if the ledger has none of the caller's.
 */
export function unconfiguredProviders(ledger: JournaledLedger, absentSwaps: AbsentSwaps, freshness: Freshness, observe: Observer) {
  return async (tag: string, id: string, context: Context): Promise<Details> => {
    const entry = await ledger.find(ownerOf(context), tag, id)
    if (!entry) throw await absentSwaps.fault(tag, id)
    observe({ what: 'cache', cache: 'transaction', outcome: 'stale', ageSeconds: freshness.ageSeconds(entry) })
    return requireStatus(staleFromLedger(entry, context, freshness))
  }
}
