/** Lists an account's transactions of all providers from the ledger (docs/contract.md §12). */

import { forEachConcurrently } from '../../domain/async.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { Transaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'
import { parseDateRange } from './date-range.ts'
import { fromLedger, staleFromLedger } from './known-state.ts'
import { ownerOf } from './owner.ts'
import { type Freshness, oldestOf } from './state/freshness.ts'
import { formatTransactionId } from './transaction-id.ts'

const concurrency = 8
/** Time for all refreshes of one list. */
const refreshTimeoutMs = 2_000

export interface ListFromLedgerOptions {
  readonly ledger: Ledger
  readonly freshness: Freshness
  /** Tags of the providers that may be called. */
  readonly readTags: ReadonlySet<string>
}

/** Refreshes rows that are neither final nor fresh. A row that cannot be refreshed is returned in its last known state. */
export function listFromLedger(options: ListFromLedgerOptions): Layer {
  const { ledger } = options
  return onOperations({
    async listTransactions(query, context, next) {
      const { page, size } = query
      const { entries, total } = await ledger.list(ownerOf(context), { page, size, created: parseDateRange(query) })
      const rows = await rowsFromLedger(entries, context, next, options)
      const staleSeconds = oldestOf(rows)
      const sources = [...new Set(entries.map((entry) => entry.provider))]
      const [provider, ...others] = sources
      return {
        body: { items: rows.map(({ body }) => body), total },
        derived: [...new Set(rows.flatMap(({ derived = [] }) => derived))],
        ...(staleSeconds !== undefined && { staleSeconds }),
        ...(provider !== undefined && others.length === 0 ? { provider } : { sources }),
      }
    },
  })
}

type Row = ServiceResponse<'getTransaction'>

/** In the order of the entries. */
export async function rowsFromLedger(
  entries: readonly LedgerEntry[],
  context: Context,
  service: SwapService,
  { freshness, readTags }: Omit<ListFromLedgerOptions, 'ledger'>,
): Promise<readonly Row[]> {
  const isOff = ({ provider }: LedgerEntry): boolean => !readTags.has(provider)
  const lastSeen = (entry: LedgerEntry): Row =>
    isOff(entry) ? staleFromLedger(entry, context, freshness) : fromLedger(entry, context)
  const rows = entries.map((entry) => rowOf(lastSeen(entry), entry))
  const outdated = [...entries.entries()].filter(([, entry]) => !isOff(entry) && freshness.needsRefresh(entry))
  const deadline = Math.min(context.deadline, performance.now() + refreshTimeoutMs)
  await forEachConcurrently(concurrency, outdated, async ([at, entry]) => {
    if (performance.now() >= deadline) return
    const response = await refreshRow(entry, service, { ...context, deadline })
    if (response) rows[at] = response
  })
  return rows
}

function rowOf(response: Row, { provider, transaction }: LedgerEntry): Row {
  const body: Transaction = { ...response.body, id: formatTransactionId(provider, transaction.id) }
  return { ...response, body }
}

async function refreshRow(
  { provider, transaction }: LedgerEntry,
  service: SwapService,
  context: Context,
): Promise<Row | undefined> {
  try {
    return await service.call('getTransaction', { id: formatTransactionId(provider, transaction.id) }, context)
  } catch {
    return undefined
  }
}
