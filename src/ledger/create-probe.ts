/** Kysely: whether the ledger takes what a create writes, asked before one is sent. */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { OnTrouble, StoreTrouble } from '../domain/store-trouble.ts'
import type { Database, Priority } from './database.ts'
import { rowLeftOut, troubleOf } from './diagnosis.ts'
import type { Tables } from './schema/tables.ts'
import type { Store } from './store.ts'

/**
 * What says that no create can be recorded until a person has changed something: a server that is read-only, a privilege or a table that is
 * missing, a session that a pooler does not keep, and whatever else refuses a row that the ledger takes: a publication, a constraint, a
 * trigger. A time-out, a lock or a lost connection says nothing.
 */
const refusals = /^(?:0A|22|23|25006|26|42|55000|P0)/

const intervalMs = 60_000

export interface CreateProbe {
  /** Why no create can be recorded. Undefined if it can, and while nothing is known. */
  readonly refusal: () => StoreTrouble | undefined
  /** Whether the ledger has ever taken what a create writes. */
  readonly hasPassed: () => boolean
  /** Writes, changes and removes a row in each table of a create, on the connections of creates, and rolls it back. */
  readonly run: () => Promise<void>
  /** The same once a minute, and at each call while the ledger has not taken it. */
  readonly runIfDue: () => Promise<void>
  /** The same if a create's write failed because of what may be such a refusal. */
  readonly heed: (reason: unknown) => void
}

export function createProbe(store: Store, onTrouble: OnTrouble = () => {}): CreateProbe {
  // A file is its owner's, and was written at the start.
  const isServer = store.connections !== undefined
  let refusal: StoreTrouble | undefined
  let hasPassed = !isServer
  let ranAt = Number.NEGATIVE_INFINITY
  let isHeeding = false
  const run = async (): Promise<void> => {
    ranAt = performance.now()
    for (const trouble of store.troubles ?? []) onTrouble(trouble)
    const results = await Promise.allSettled((['usual', 'result'] as const).map((priority) => probe(store, priority)))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (failures.length === 0) {
      refusal = undefined
      hasPassed = true
      return
    }
    const reason = failures.find(isRefusal)
    if (reason !== undefined) refusal = troubleOf(reason)
    if (refusal) onTrouble(refusal)
  }
  return {
    refusal: () => refusal,
    hasPassed: () => hasPassed,
    run,
    async runIfDue() {
      const isDue = !hasPassed || refusal !== undefined || performance.now() - ranAt >= intervalMs
      if (isServer && isDue) await run()
    },
    heed(reason) {
      if (isHeeding || !isRefusal(reason)) return
      isHeeding = true
      void run().finally(() => {
        isHeeding = false
      })
    },
  }
}

function isRefusal(reason: unknown): boolean {
  return refusals.test(String((reason as { readonly code?: unknown }).code))
}

class RolledBack extends Error {}

async function probe(store: Store, priority: Priority): Promise<void> {
  const write = store.write(async (within) => {
    await writeAll(within)
    throw new RolledBack()
  }, priority)
  await write.catch((reason) => {
    if (!(reason instanceof RolledBack)) throw reason
  })
}

async function writeAll(within: Database): Promise<void> {
  const rows = rowsOf(`probe ${randomUUID()}`)
  for (const table of readAlone) await sql`select 1 from ${sql.table(table)} limit 1`.execute(within)
  for (const [table, row] of rows) {
    const columns = Object.keys(row).map((column) => sql.ref(column))
    await changeOne(within, sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(row))})`)
    await changeOne(within, sql`update ${sql.table(table)} set ${matches(row)} where ${matches(row)}`)
  }
  for (const [table, row] of rows.toReversed()) await changeOne(within, sql`delete from ${sql.table(table)} where ${matches(row)}`)
}

/** What a row policy hides, or a trigger leaves out, is no error of the server. */
async function changeOne(within: Database, change: RawBuilder<unknown>): Promise<void> {
  const { numAffectedRows } = await change.execute(within)
  if (numAffectedRows !== 1n) throw Object.assign(new Error('a row was left out'), { code: rowLeftOut })
}

/** Tables that creates read, and do not write. */
const readAlone = ['providers', 'pruned_ids', 'restore_marks'] as const satisfies readonly (keyof Tables)[]

type Row = Readonly<Record<string, string | number>>

/** By its first column, which no other row has. */
function matches(row: Row): RawBuilder<unknown> {
  const [[column, value] = ['', '']] = Object.entries(row)
  return sql`${sql.ref(column)} = ${value}`
}

/** One of each table that creates write, in the order of their references. The values mean nothing, and keep the constraints. */
function rowsOf(id: string): readonly (readonly [keyof Tables, Row])[] {
  const [intent, owner, provider, provider_id] = [id, id, id, id]
  const create = { intent, owner, provider, requested: '{}', attempted_at: 0 }
  const swap = { provider, provider_id }
  const event = { at: 0, transaction_number: 1, digest: '', state: '{}', is_final: 0 }
  return [
    ['transactions', { ...create, provider_id, state: 'done', sort_key: 0, record: '{}' }],
    ['claims', { intent, owner, key: '', fingerprint: '', created_at: 0 }],
    ['create_requests', { intent, at: 0 }],
    ['timeline', { intent, at: 0, events: '[]' }],
    ['transaction_events', { owner, ...swap, ...event }],
    ['event_owners', { owner, last_number: 1 }],
    ['open_deposits', { ...swap, deposit: id, taken_at: 0 }],
    ['withheld_candidates', { intent, ...swap }],
    ['firm_quotes', { id, owner, provider, quote_id: '', terms: '{}', valid_until: 0 }],
    ['page_index', { owner, ...swap, sort_key: 0, entries: 0, older: 0 }],
    ['mismatch_streaks', { provider, kind: '', asset: '', sent: '', intents: '[]', changed_at: 0 }],
    ['ended', { ...create, ended_at: 0 }],
    ['refused_creates', { ...create, next_check_at: 0 }],
    ['usage_swaps', { account: id, hour: 0, kind: 'refused', name: '', count: 0 }],
  ]
}
