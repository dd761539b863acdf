/** Kysely: which question an owner gave an `Idempotency-Key` to, and what became of it. */
import { sql } from 'kysely'
import type { Claimed, Facts, Intent, Ledger } from '../../core/ledger.ts'
import { type EntryRow, entryColumns, toEntry } from './entry.ts'
import { type Database, prepare, type Store } from './store.ts'
import type { State } from './tables.ts'

/** How long a claim is kept at least, in milliseconds. */
const lifetime = 24 * 3_600_000
const isOpen = sql<boolean>`exists (
  select 1 from transactions where transactions.intent = claims.intent and transactions.state in ('pending', 'unknown')
)`

export function claims({ database, writeOne }: Store): Pick<Ledger, 'claimed' | 'expireClaims'> {
  const ask = prepare<ClaimRow, 'owner' | 'key'>(database, ['owner', 'key'], (blank) => question(database, blank))
  return {
    async claimed(owner, key) {
      const [row] = await ask({ owner, key })
      return row && toClaimed(row)
    },
    expireClaims: (before) =>
      writeOne(async (within) => {
        const old = within.deleteFrom('claims').where('created_at', '<', before).where(sql<boolean>`not ${isOpen}`)
        return Number((await old.executeTakeFirst()).numDeletedRows)
      }),
  }
}

/** False where the owner has used the key before; a claim whose time is over gives way. */
export async function claim(within: Database, { id, owner, claim: asked }: Intent): Promise<boolean> {
  if (!asked) return true
  const now = Date.now()
  const made = { intent: id, fingerprint: asked.fingerprint, first: null, created_at: now }
  const { numInsertedOrUpdatedRows } = await within
    .insertInto('claims')
    .values({ ...made, owner, key: asked.key })
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'key'])
        .doUpdateSet(made)
        .where('claims.created_at', '<', now - lifetime)
        .where(sql<boolean>`not ${isOpen}`),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

interface ClaimRow extends EntryRow {
  readonly fingerprint: string
  readonly first: string | null
  readonly created_at: number
  readonly state: State
}

function question(database: Database, blank: Readonly<Record<'owner' | 'key', never>>) {
  return database
    .selectFrom('claims')
    .innerJoin('transactions', 'transactions.intent', 'claims.intent')
    .select(entryColumns.map((column) => `transactions.${column}` as const))
    .select(['claims.fingerprint', 'claims.first', 'claims.created_at', 'transactions.state'])
    .where('claims.owner', '=', blank.owner)
    .where('claims.key', '=', blank.key)
    .compile()
}

function toClaimed(row: ClaimRow): Claimed | undefined {
  const { fingerprint, state, provider, first } = row
  if (state === 'pending' || state === 'unknown') return { fingerprint, state: 'open', provider }
  if (row.created_at < Date.now() - lifetime) return undefined
  if (state === 'mismatch') return { fingerprint, state, provider }
  return { fingerprint, state, entry: toEntry(row), first: first === null ? undefined : (JSON.parse(first) as Facts) }
}
