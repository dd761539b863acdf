/** Kysely: the manual operations on the ledger. */
import { type NotNull, sql } from 'kysely'
import type { AuditEntry } from '../core/operations/audit.ts'
import {
  type ExportedEntry,
  type Judgement,
  type LedgerAdmin,
  type LedgerStats,
  maxUnresolved,
  type UnresolvedCreateReport,
  type UnresolvedCursor,
} from '../core/ports/ledger-admin.ts'
import { type Amount, compareAmounts } from '../domain/amount.ts'
import { pause } from '../domain/async.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { attention, attentionCounts } from './attention.ts'
import {
  acceptByHand,
  bindByHand,
  type Create,
  loadMismatch,
  lockCreate,
  markNotCreatedByHand,
  recordOfRequest,
} from './creates.ts'
import type { Database } from './database.ts'
import { clampSortKey, type EntryRow, entryColumns, toEntry, toNanoseconds } from './entry.ts'
import { finder } from './find.ts'
import { assetCounts, destinationCounts, ledgerGauges, openCounts } from './open-transactions.ts'
import { addAudit } from './operations.ts'
import { beforeAll, type OwnerPosition, positionColumns, values } from './page-index.ts'
import { pruner } from './prune.ts'
import type { State } from './schema/tables.ts'
import { searcher } from './search.ts'
import type { Store } from './store.ts'
import { agreedAmounts } from './usage.ts'

/** `isRepeated`: the work runs again, since it is not known whether its commit succeeded. */
export function ledgerAdmin(store: Store): LedgerAdmin {
  const { database, write } = store
  return {
    stats: (now) => stats(database, now),
    gauges: () => ledgerGauges(store),
    openCounts: () => openCounts(store),
    destinationCounts: () => destinationCounts(database),
    assetCounts: () => assetCounts(database),
    unresolved: (after, maxCreates = maxUnresolved) => unresolved(store, after, maxCreates),
    unresolvedCount: () => unresolvedCount(database),
    async findUnresolved(intent) {
      const row = await unresolvedColumns(store).where('intent', '=', intent).executeTakeFirst()
      return row && toReport(row)
    },
    bind(intent, id, at, record, actor, judgement, deposit = {}) {
      let isRepeated = false
      return write(async (within) => {
        const create = await lockCreate(within, intent)
        if (isRepeated && create?.state === 'done' && create.provider_id === id) return 'bound'
        if (!create || create.state === 'done' || isJudgedOtherwise(create, judgement)) return 'missing'
        if (!(await bindByHand(within, create, record ?? recordOfRequest(create, id, at), store, deposit))) return 'taken'
        await addAudit(within, store, resolved(actor, create, judgement, { bound: formatTransactionId(create.provider, id) }))
        isRepeated = true
        return 'bound'
      })
    },
    accept(intent, at, actor, judgement, deposit = {}) {
      let isRepeated = false
      return write(async (within) => {
        const create = await lockCreate(within, intent)
        if (isRepeated && create?.state === 'done') return 'accepted'
        if (create?.state !== 'mismatch') return 'missing'
        const { reported, fields } = loadMismatch(create.record ?? '')
        if (!(await acceptByHand(within, create, reported, at, store, deposit))) return 'taken'
        const accepted = formatTransactionId(create.provider, reported.id)
        await addAudit(within, store, resolved(actor, create, judgement, { accepted, fields }))
        isRepeated = true
        return 'accepted'
      })
    },
    markNotCreated(intent, actor, judgement) {
      let isRepeated = false
      return write(async (within) => {
        const create = await lockCreate(within, intent)
        if (isRepeated && !create) return true
        if (!create || isJudgedOtherwise(create, judgement)) return false
        if (!(await markNotCreatedByHand(within, intent, store))) return false
        await addAudit(within, store, resolved(actor, create, judgement, { bound: null }))
        isRepeated = true
        return true
      })
    },
    ...settlementPlans(store),
    ...attention(store),
    ...searcher(store),
    ...finder(store),
    export: exporter(store),
    prune: pruner(store),
  }
}

async function stats(database: Database, now: number): Promise<LedgerStats> {
  const { count, min } = database.fn
  const states = await database
    .selectFrom('transactions')
    .select(['state', 'provider', 'status', count<number>('owner').as('count'), min('attempted_at').as('oldest')])
    .groupBy(['state', 'provider', 'status'])
    .orderBy('provider')
    .orderBy('status')
    .execute()
  const inState = (state: State) => states.filter((row) => row.state === state)
  const sum = (state: State) => inState(state).reduce((total, row) => total + row.count, 0)
  const times = [...inState('pending'), ...inState('unknown')].map(({ oldest }) => oldest).filter((oldest) => oldest !== null)
  return {
    entries: inState('done').map((row) => ({
      provider: row.provider,
      count: row.count,
      ...(row.status && { status: row.status }),
    })),
    pending: sum('pending'),
    unknown: sum('unknown'),
    ...(times.length > 0 && { oldestAttempt: Math.min(...times) }),
    mismatches: sum('mismatch'),
    needPerson: (await attentionCounts(database)).reduce((total, row) => total + row.count, 0),
    idempotencyKeys: await rowsOf(
      database.selectFrom('claims').select(count<number>('owner').as('rows')).executeTakeFirstOrThrow(),
    ),
    accounts: await rowsOf(database.selectFrom('accounts').select(count<number>('id').as('rows')).executeTakeFirstOrThrow()),
    validKeys: await rowsOf(validKeys(database, now).select(count<number>('id').as('rows')).executeTakeFirstOrThrow()),
  }
}

async function rowsOf(result: Promise<{ readonly rows: number }>): Promise<number> {
  return (await result).rows
}

function validKeys(database: Database, now: number) {
  const valid = database.selectFrom('keys').where('revoked_at', 'is', null)
  return valid.where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', now)]))
}

async function unresolved(
  store: Store,
  after: UnresolvedCursor | undefined,
  maxCreates: number,
): Promise<readonly UnresolvedCreateReport[]> {
  const all = unresolvedColumns(store)
  const following = after ? all.where(sql<boolean>`(attempted_at, intent) > (${after.attemptedAt}, ${after.intent})`) : all
  const rows = await following.orderBy('attempted_at').orderBy('intent').limit(maxCreates).execute()
  await pause() // a file is read without a wait: requests come between two pages
  return rows.map(toReport)
}

const maxCounted = 10_000

async function unresolvedCount(database: Database): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`select count(*) as count from
    (select 1 from transactions where state <> 'done' and quoting is null limit ${sql.lit(maxCounted)}) as counted`.execute(
    database,
  )
  return (await attentionCounts(database)).reduce((sum, { count }) => sum + count, rows[0]?.count ?? 0)
}

/** The condition repeats that of the index. */
function unresolvedColumns({ database }: Store) {
  return database
    .selectFrom('transactions')
    .leftJoin('accounts', 'accounts.id', 'transactions.owner')
    .select(['intent', 'owner', 'provider', 'state', 'requested', 'sent', 'attempted_at', 'deadline', 'candidates', 'record'])
    .select(['accounts.name as account', 'unknown_reason', 'quoted'])
    .where(sql<boolean>`state <> 'done'`)
    .where('quoting', 'is', null)
    .$narrowType<{ intent: NotNull; state: UnresolvedCreateReport['state']; requested: NotNull; attempted_at: NotNull }>()
}

type UnresolvedRow = Awaited<ReturnType<ReturnType<typeof unresolvedColumns>['executeTakeFirstOrThrow']>>

function toReport(row: UnresolvedRow): UnresolvedCreateReport {
  return {
    intent: row.intent,
    owner: row.owner,
    ...(row.account !== null && { account: row.account }),
    provider: row.provider,
    state: row.state,
    ...(row.unknown_reason !== null && { unknownReason: row.unknown_reason }),
    requested: JSON.parse(row.requested),
    ...(row.sent !== null && { sent: JSON.parse(row.sent) }),
    ...(row.quoted !== null && { quote: JSON.parse(row.quoted) }),
    attemptedAt: row.attempted_at,
    ...(row.deadline !== null && { deadline: row.deadline }),
    ...(row.candidates !== null &&
      !(row.state === 'mismatch' && row.record !== null) && { candidates: JSON.parse(row.candidates) }),
    ...(row.record !== null && { reported: toReported(row.record) }),
  }
}

function toReported(record: string): NonNullable<UnresolvedCreateReport['reported']> {
  const { reported, fields } = loadMismatch(record)
  return { id: reported.id, fields, transaction: reported }
}

function isJudgedOtherwise({ state }: Create, judgement: Judgement | undefined): boolean {
  return judgement !== undefined && judgement.isMismatch !== (state === 'mismatch')
}

function resolved(actor: string, { intent, provider, state }: Create, judgement: Judgement | undefined, after: object): AuditEntry {
  const { account, reason, note, despite } = judgement ?? {}
  const before = { provider, state, account, reason }
  return { actor, action: 'ledger.resolve', subject: intent, before, after: { ...after, despite, note } }
}

// Kysely: what a person was shown, and may confirm.

/** Milliseconds. */
const planLifetime = 86_400_000

function settlementPlans(store: Store): Pick<LedgerAdmin, 'savePlan' | 'findPlan' | 'advancePlan'> {
  const { database, write, writeOne, databaseTimeMs } = store
  return {
    async savePlan(id, { rows, ...settlement }) {
      const row = { id, at: databaseTimeMs, settlement: JSON.stringify(settlement), planned: JSON.stringify(rows), position: 0 }
      await write(async (within) => {
        await within
          .deleteFrom('settlements')
          .where('at', '<', sql<number>`${databaseTimeMs} - ${sql.lit(planLifetime)}`)
          .execute()
        await within
          .insertInto('settlements')
          .values(row)
          .onConflict((conflict) => conflict.doNothing()) // the same, whose commit was not confirmed
          .execute()
      })
    },
    async findPlan(id) {
      const row = await database.selectFrom('settlements').selectAll().where('id', '=', id).executeTakeFirst()
      return row && { plan: { ...JSON.parse(row.settlement), rows: JSON.parse(row.planned) }, position: row.position }
    },
    async advancePlan(id, position) {
      await writeOne(async (within) => {
        await within.updateTable('settlements').set({ position }).where('id', '=', id).where('position', '<', position).execute()
      })
    },
  }
}

// Kysely: reads all entries in batches.

const batchSize = 500

/** Each batch is its own snapshot. An entry that exists during the whole export is returned exactly once. */
function exporter({ database }: Store): LedgerAdmin['export'] {
  return async function* (since) {
    const oldest = clampSortKey(since === undefined ? 2n ** 64n : -toNanoseconds(since))
    let rows = await batch(database, beforeAll, oldest)
    for (;;) {
      yield* rows.map(toExported)
      const last = rows.at(-1)
      if (!last || rows.length < batchSize) return
      rows = await batch(database, { ...last, sort_key: BigInt(last.sort_key) }, oldest)
    }
  }
}

function toExported(row: EntryRow & { readonly requested: string | null }): ExportedEntry {
  const entry = toEntry(row)
  const { transaction, quotedAmountOut = transaction.amountOut } = entry
  const { amountIn, amountOut } = agreedAmounts(row.requested, entry)
  return {
    ...entry,
    ...(isOther(amountIn, transaction.amountIn) && { agreedAmountIn: amountIn }),
    ...(isOther(amountOut, quotedAmountOut) && { agreedAmountOut: amountOut }),
  }
}

function isOther(agreed: Amount | undefined, reported: Amount | undefined): boolean {
  return agreed !== undefined && (reported === undefined || compareAmounts(agreed, reported) !== 0)
}

function batch(database: Database, after: OwnerPosition, oldest: bigint) {
  return database
    .selectFrom('transactions')
    .select([...entryColumns, 'requested', 'provider_id', sql<string>`cast(sort_key as text)`.as('sort_key')])
    .where(
      sql<boolean>`state = 'done' and (owner, ${positionColumns}) > (${after.owner}, ${values(after)}) and sort_key <= ${oldest}`,
    )
    .orderBy('owner')
    .orderBy(sql`transactions.sort_key`)
    .orderBy('provider_id')
    .orderBy('provider')
    .limit(batchSize)
    .$narrowType<{ provider_id: NotNull }>()
    .execute()
}
