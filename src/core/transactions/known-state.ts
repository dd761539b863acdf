/** Responses from the ledger only, for providers that are off (docs/contract.md §12). */
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Context, ServiceResponse } from '../../domain/swap/service.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'
import { requireStatus } from './default-status.ts'
import { ownerOf } from './owner.ts'
import type { Freshness } from './state/freshness.ts'
import { presented } from './state/merge-transaction.ts'

type Details = ServiceResponse<'getTransaction'>

/** The last known state. */
export function fromLedger(entry: LedgerEntry, context: Context): Details {
  return { body: presented(entry, context), provider: entry.provider, derived: entry.derived }
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
