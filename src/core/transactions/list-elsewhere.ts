/** With the provider's own keys: a list at the routed provider, with what the ledger holds of this key at others (docs/contract.md §12). */
import { instantsOf } from '../../domain/instant.ts'
import type { Transaction } from '../../domain/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { EntriesElsewhere, LedgerEntry } from '../ledger.ts'
import { cutPage } from '../paging.ts'
import { parseDateRange } from './date-range.ts'
import { type ListFromLedgerOptions, rowsFromLedger } from './list-from-ledger.ts'
import { ListSnapshots } from './list-snapshots.ts'
import { ownerOf } from './owner.ts'
import { snapshotLifetimeMs } from './sorted-list.ts'
import { oldestOf } from './state/freshness.ts'
import { parseTransactionId } from './transaction-id.ts'
import { maxWholeRows, readWholeList, type WholeTransactions } from './whole-list.ts'

export interface ListElsewhereOptions extends ListFromLedgerOptions {
  /** Tag of the provider that is listed. */
  readonly listed: string
  /** The most rows in a page of its list. */
  readonly pageSize: number
  /** Of times without a zone, by tag; default: UTC. */
  readonly timezones: ReadonlyMap<string, string>
}

/** If there is such a transaction, the whole list is read and merged, newest creation first. Else the list passes unchanged. */
export function listElsewhere(options: ListElsewhereOptions): Layer {
  const { ledger, listed, pageSize, timezones } = options
  const snapshots = new ListSnapshots<WholeTransactions>(snapshotLifetimeMs)
  const timeOf = ({ createdAt }: Transaction, tag: string): bigint => instantsOf(createdAt, timezones.get(tag))[0] ?? 0n
  return onOperations({
    async createTransaction(request, context, next) {
      try {
        return await next.call('createTransaction', request, context)
      } finally {
        if (context.caller.identity !== undefined) snapshots.forget(context.caller.identity)
      }
    },
    async listTransactions(query, context, next) {
      const owner = ownerOf(context)
      // Without the ledger the list is the provider's, as it was before the switch.
      const elsewhere = await ledger.listElsewhere(owner, listed, maxWholeRows).catch(() => undefined)
      if (!elsewhere || elsewhere.entries.length === 0) return next.call('listTransactions', query, context)
      const { first, last } = parseDateRange(query)
      const whole = await snapshots.get(owner, query.page === 1, () => readWholeList(next, context, pageSize))
      const rows = [
        ...whole.rows.map((row) => ({ row, at: timeOf(row, listed), id: row.id })),
        ...withoutListed(elsewhere, whole.rows, listed).map((row) => ({
          row,
          at: timeOf(row.transaction, row.provider),
          id: row.transaction.id,
        })),
      ].filter(({ at }) => at >= first && at <= last)
      rows.sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1))
      const { items: page, total } = cutPage(rows, query)
      const stored = page.map(({ row }) => row).filter(isEntry)
      const read = await rowsFromLedger(stored, context, next, options)
      const items = page.map(({ row }) => (isEntry(row) ? (read[stored.indexOf(row)]?.body ?? row.transaction) : row))
      const staleSeconds = oldestOf([whole, ...read])
      return {
        body: { items, total },
        derived: [...new Set([...(whole.derived ?? []), ...read.flatMap(({ derived = [] }) => derived)])],
        ...(staleSeconds !== undefined && { staleSeconds }),
        ...(stored.length === 0
          ? { provider: listed }
          : { sources: [...new Set([listed, ...stored.map((entry) => entry.provider)])] }),
      }
    },
  })
}

/** One entry of each transaction, the one that was reported last, and none of what the provider has listed under another tag of its account. */
function withoutListed({ entries, isOneAccount }: EntriesElsewhere, rows: readonly Transaction[], listed: string) {
  const listedIds = new Set(rows.map(({ id }) => parseTransactionId(id).id))
  const byId = Map.groupBy(entries, ({ transaction }) => transaction.id)
  return entries.filter((entry) => {
    const { provider, transaction } = entry
    if (listedIds.has(transaction.id) && isOneAccount(provider, listed)) return false
    const same = byId.get(transaction.id)?.filter((other) => isOneAccount(other.provider, provider)) ?? []
    return entry === same.toSorted((one, other) => other.reportedAt - one.reportedAt)[0]
  })
}

function isEntry(row: Transaction | LedgerEntry): row is LedgerEntry {
  return 'transaction' in row
}
