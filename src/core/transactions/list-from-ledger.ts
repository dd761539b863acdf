/**
 * Lists an account's transactions of all providers from the ledger (docs/contract-operators.md §12). Several tags of one account are one row: the
 * routed provider's, else the last reported.
 */
import { forEachConcurrently } from '../../domain/async.ts'
import { instantsOf } from '../../domain/instant.ts'
import { type Context, ownerOf, type ServiceResponse, type SwapService } from '../../domain/service.ts'
import { formatTransactionId, parseTransactionId, type Transaction } from '../../domain/swap.ts'
import { type Freshness, oldestOf } from '../freshness.ts'
import { ledgerUnavailable } from '../instrumented-ledger.ts'
import { type Layer, onOperations } from '../layer.ts'
import { cutPage } from '../paging.ts'
import type { EntriesElsewhere, JournaledLedger, LedgerEntry } from '../ports/ledger.ts'
import { fromLedger, staleFromLedger } from './from-ledger.ts'
import { listFilter, passes } from './list-filter.ts'
import {
  ListSnapshots,
  maxWholeRows,
  parseDateRange,
  readWholeList,
  snapshotLifetimeMs,
  type WholeTransactions,
} from './sorted-list.ts'

const concurrency = 8
/** Open rows that are refreshed before a filter, if a page has fewer. */
const leastRefreshed = 20
/** Time for all refreshes of one list: the whole list has two seconds. */
const refreshTimeoutMs = 1_500

/**
 * Refreshes rows that are neither final nor fresh. A row that cannot be refreshed is returned in its last known state. With a filter the
 * rows that may pass it by now are refreshed before it is applied. `readTags`: the providers that may be called.
 */
export function listFromLedger(ledger: JournaledLedger, freshness: Freshness, readTags: ReadonlySet<string>): Layer {
  const rows = new LedgerRows(freshness, readTags)
  return onOperations({
    async listTransactions(query, context, next) {
      const { page, size } = query
      const owner = ownerOf(context)
      const filter = listFilter(query)
      const open = filter && page === 1 ? await ledger.someOpen(owner, [...readTags], Math.max(size, leastRefreshed)) : []
      const refreshed = await rows.of(open, context, next)
      const { entries, total } = await ledger.list(owner, { page, size, created: parseDateRange(query), filter })
      const read = filter ? rows.asRecorded(entries, context) : await rows.of(entries, context, next)
      const staleSeconds = oldestOf([...read, ...refreshed])
      const sources = [...new Set(entries.map((entry) => entry.provider))]
      const [provider, ...others] = sources
      return {
        body: { items: read.map(({ body }) => body), total },
        derived: [...new Set(read.flatMap(({ derived = [] }) => derived))],
        ...(staleSeconds !== undefined && { staleSeconds }),
        ...(provider !== undefined && others.length === 0 ? { provider } : { sources }),
      }
    },
  })
}

type Row = ServiceResponse<'getTransaction'>

class LedgerRows {
  private readonly freshness: Freshness
  private readonly readTags: ReadonlySet<string>

  constructor(freshness: Freshness, readTags: ReadonlySet<string>) {
    this.freshness = freshness
    this.readTags = readTags
  }

  /** In the order of the entries. */
  asRecorded(entries: readonly LedgerEntry[], context: Context): Row[] {
    return entries.map((entry) =>
      rowOf(this.isOff(entry) ? staleFromLedger(entry, context, this.freshness) : fromLedger(entry, context), entry),
    )
  }

  /** The same, after the refresh. */
  async of(entries: readonly LedgerEntry[], context: Context, service: SwapService): Promise<readonly Row[]> {
    const rows = this.asRecorded(entries, context)
    const outdated = [...entries.entries()].filter(([, entry]) => !this.isOff(entry) && this.freshness.needsRefresh(entry))
    const deadline = Math.min(context.deadline, performance.now() + refreshTimeoutMs)
    await forEachConcurrently(concurrency, outdated, async ([at, entry]) => {
      if (performance.now() >= deadline) return
      const response = await refreshRow(entry, service, { ...context, deadline })
      if (response) rows[at] = response
    })
    return rows
  }

  private isOff({ provider }: LedgerEntry): boolean {
    return !this.readTags.has(provider)
  }
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

// With the provider's own keys: a list at the routed provider, with what the ledger holds of this key at others (docs/contract-operators.md §12).

export interface ListElsewhereOptions {
  readonly ledger: JournaledLedger
  readonly freshness: Freshness
  /** Tags of the providers that may be called. */
  readonly readTags: ReadonlySet<string>
  /** Tag of the provider that is listed. */
  readonly listed: string
  /** The most rows in a page of its list. */
  readonly pageSize: number
  /** Of times without a zone, by tag; default: UTC. */
  readonly timezones: ReadonlyMap<string, string>
}

/** If there is such a transaction, the whole list is read and merged, newest creation first. Else the list passes unchanged. */
export function listElsewhere({ ledger, freshness, readTags, listed, pageSize, timezones }: ListElsewhereOptions): Layer {
  const ledgerRows = new LedgerRows(freshness, readTags)
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
      const filter = listFilter(query)
      const elsewhere = await ledger.listElsewhere(owner, listed, maxWholeRows).catch(() => undefined)
      // Without the ledger a list may lack what the key made before the switch, and says so.
      if (!elsewhere && filter) throw ledgerUnavailable()
      if (!elsewhere) return { ...(await next.call('listTransactions', query, context)), warning: 'ledger_unavailable' }
      if (elsewhere.entries.length === 0) return next.call('listTransactions', query, context)
      const { first, last } = parseDateRange(query)
      const whole = await snapshots.get(owner, query.page === 1, () => readWholeList(next, context, pageSize))
      const found = whole.rows.filter((row) => !filter || passes(filter, row, {}, timezones.get(listed)))
      const known = withoutListed(elsewhere, whole.rows, listed).filter(
        (entry) => !filter || passes(filter, entry.transaction, entry, timezones.get(entry.provider)),
      )
      const rows = [
        ...found.map((row) => ({ row, at: timeOf(row, listed), id: row.id })),
        ...known.map((row) => ({ row, at: timeOf(row.transaction, row.provider), id: row.transaction.id })),
      ].filter(({ at }) => at >= first && at <= last)
      rows.sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1))
      const { items: page, total } = cutPage(rows, query)
      const stored = page.map(({ row }) => row).filter(isEntry)
      const read = filter ? ledgerRows.asRecorded(stored, context) : await ledgerRows.of(stored, context, next)
      const items = page.map(({ row }) => (isEntry(row) ? (read[stored.indexOf(row)]?.body ?? row.transaction) : row))
      const staleSeconds = oldestOf([whole, ...read])
      return {
        body: { items, total },
        derived: [...new Set([...(whole.derived ?? []), ...read.flatMap(({ derived = [] }) => derived)])],
        ...(staleSeconds !== undefined && { staleSeconds }),
        ...(whole.warning && { warning: whole.warning }),
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
