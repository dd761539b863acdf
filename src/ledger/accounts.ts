/** Kysely: accounts and the digests of their keys. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type NotNull, type RawBuilder, sql } from 'kysely'
import type { Account, Accounts, IssuedKey, KeyRecord } from '../core/access/authentication.ts'
import { isSameDeposit } from '../core/same-swap.ts'
import { pause } from '../domain/async.ts'
import { toIso } from '../domain/instant.ts'
import { type AccountLimits, type KeyAccess, keyScopes } from '../domain/key-access.ts'
import { networkList } from '../domain/network-address.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Database } from './database.ts'
import { loadEntry } from './entry.ts'
import { readsOf } from './fresh-reads.ts'
import { addAudit } from './operations.ts'
import { prepare, type Store } from './store.ts'

export function accounts(store: Store): Accounts {
  const { database, write, writeOne, isIn, toList, recordset } = store
  const findKey = prepare(database, ['digest'], ({ digest }) => keys(database).where('digest', '=', digest).compile())
  const reads = readsOf(store)
  const find = (digests: readonly string[]): Promise<readonly KeyRow[]> => {
    const [digest] = digests
    if (digests.length === 1 && digest !== undefined) return findOne(digest)
    return keys(database)
      .where(isIn('digest', toList(digests)))
      .execute()
  }
  const findOne = async (digest: string): Promise<readonly KeyRow[]> => {
    const row = await reads.find(async (on) => (await findKey({ digest }, on))[0])
    return row ? [row] : []
  }
  return {
    addKey: (key, digest, actor) =>
      write(async (within) => {
        if (!(await insertKey(within, await accountOf(within, store, key, actor), key, digest))) return
        const { id, name, expiresAt, scope, networks } = key
        const after = { account: name, expiresAt: toIso(expiresAt), scope, networks }
        await addAudit(within, store, { actor, action: 'key.create', subject: id, after })
      }),
    async findKeys(digests) {
      const rows = await find(digests)
      return new Map(rows.map((row) => [row.digest, toRecord(row)]))
    },
    async listKeys() {
      const found: IssuedKey[] = []
      for (let after = ''; ; ) {
        const rows = await keys(database).where('keys.id', '>', after).orderBy('keys.id').limit(rowsPerPage).execute()
        for (const row of rows) found.push(toIssuedKey(row))
        const last = rows.at(-1)
        if (!last || rows.length < rowsPerPage) break
        after = last.id
        await pause()
      }
      return found.sort((one, other) => one.createdAt - other.createdAt)
    },
    async readKey(id) {
      const row = await keyRow(database, id)
      return row && toIssuedKey(row)
    },
    revokeKey(id, at, actor) {
      let isRetry = false
      return write(async (within) => {
        const wasTried = isRetry
        isRetry = true
        const revoked = within.updateTable('keys').set({ revoked_at: at }).where('id', '=', id).where('revoked_at', 'is', null)
        const { numUpdatedRows } = await revoked.executeTakeFirstOrThrow()
        const known = await keyRow(within, id)
        // The first try may have been committed without a confirmation.
        if (!known || numUpdatedRows === 0n) return wasTried && known?.revoked_at === at
        const { name, expires_at } = known
        const before = { account: name, expiresAt: toIso(expires_at) }
        const after = { account: name, revokedAt: toIso(at) }
        await addAudit(within, store, { actor, action: 'key.revoke', subject: id, before, after })
        return true
      })
    },
    rotateKey: (id, until, key, digest, actor) =>
      write(async (within) => {
        const ended = await endKey(within, id, until, key.createdAt)
        if (!ended) return false
        if (!(await insertKey(within, ended.account, key, digest))) return true
        const name = (await keyRow(within, id))?.name
        const before = { account: name, expiresAt: toIso(ended.expiredAt) }
        const successor = { id: key.id, expiresAt: toIso(key.expiresAt) }
        const after = { account: name, expiresAt: toIso(ended.expiresAt), successor }
        await addAudit(within, store, { actor, action: 'key.rotate', subject: id, before, after })
        return true
      }),
    async recordUses(hours) {
      const uses = JSON.stringify([...hours].map(([id, hour]) => ({ id, hour })))
      await writeOne(async (within) => {
        await sql`
          update keys set used_at = input.hour from ${recordset(uses, { id: 'text', hour: 'integer' })}
          where keys.id = input.id and coalesce(keys.used_at, 0) < input.hour`.execute(within)
      })
    },
    async accountId(name) {
      const found = database.selectFrom('accounts').select('id').where('name', '=', name.normalize())
      return (await found.executeTakeFirst())?.id
    },
    async listAccounts(now, name) {
      const all = database.selectFrom('accounts').select(['id', 'name', 'created_at', 'limits']).orderBy('name')
      const toAccounts = (rows: Awaited<ReturnType<typeof all.execute>>, counts: KeyCounts): readonly Account[] =>
        rows.map(({ id, created_at: createdAt, limits, ...row }) => ({
          ...{ name: row.name, createdAt, limits: toLimits(limits) },
          ...(counts.get(id) ?? { keys: 0, validKeys: 0 }),
        }))
      if (name !== undefined) {
        const rows = await all.where('name', '=', name.normalize()).execute()
        return toAccounts(rows, rows[0] ? await countKeysOf(database, now, rows[0].id) : new Map())
      }
      const counts = await countKeys(database, now)
      const found: Account[] = []
      for (let after = ''; ; await pause()) {
        const rows = await all.where('name', '>', after).limit(rowsPerPage).execute()
        found.push(...toAccounts(rows, counts))
        const last = rows.at(-1)
        if (!last || rows.length < rowsPerPage) return found
        after = last.name
      }
    },
    changeLimits: (name, changes, at, actor) =>
      write(async (within) => {
        const id = await accountOf(within, store, { name, createdAt: at }, actor)
        const found = within.selectFrom('accounts').select('limits').where('id', '=', id).forUpdate()
        const before = toLimits((await found.executeTakeFirstOrThrow()).limits)
        const named = Object.entries(changes).filter(([, limit]) => limit !== undefined)
        const after = Object.fromEntries(
          Object.entries({ ...before, ...Object.fromEntries(named) }).filter(([, limit]) => limit !== null),
        )
        if (isDeepStrictEqual(before, after)) return before
        const limits = Object.keys(after).length === 0 ? null : JSON.stringify(after)
        await within.updateTable('accounts').set({ limits }).where('id', '=', id).execute()
        await addAudit(within, store, { actor, action: 'account.limits', subject: name, before, after })
        return after
      }),
  }
}

/** A file is read without a wait: between two pages requests come. */
const rowsPerPage = 1_000

/** By the id of the account. */
type KeyCounts = ReadonlyMap<string, Pick<Account, 'keys' | 'validKeys'>>

async function countKeysOf(database: Database, now: number, account: string): Promise<KeyCounts> {
  const all = database
    .selectFrom('keys')
    .select(({ fn }) => fn.countAll().as('keys'))
    .where('account', '=', account)
  const { keys } = await all.executeTakeFirstOrThrow()
  const { valid } = await all
    .select(({ fn }) => fn.countAll().as('valid'))
    .where(isValid(now))
    .executeTakeFirstOrThrow()
  return new Map([[account, { keys: Number(keys), validKeys: Number(valid) }]])
}

async function countKeys(database: Database, now: number): Promise<KeyCounts> {
  const counts = new Map<string, { keys: number; validKeys: number }>()
  for (let after = ''; ; await pause()) {
    const page = database
      .selectFrom('keys')
      .select(['id', 'account', sql<number>`case when ${isValid(now)} then 1 else 0 end`.as('valid')])
    const rows = await page.where('id', '>', after).orderBy('id').limit(rowsPerPage).execute()
    for (const { account, valid } of rows) {
      const count = counts.getOrInsertComputed(account, () => ({ keys: 0, validKeys: 0 }))
      count.keys++
      count.validKeys += valid
    }
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return counts
    after = last.id
  }
}

function isValid(now: number): RawBuilder<boolean> {
  return sql`(revoked_at is null and (expires_at is null or expires_at > ${now}))`
}

/** Keys that are not revoked and are valid from some networks only. */
export async function countNetworkKeys(database: Database): Promise<number> {
  const found = database
    .selectFrom('keys')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('networks', 'is not', null)
    .where('revoked_at', 'is', null)
  return Number((await found.executeTakeFirstOrThrow()).count)
}

function keys(database: Database) {
  return database
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account')
    .select(['keys.id', 'keys.digest', 'keys.account', 'keys.scope', 'keys.networks', 'keys.hint', 'keys.used_at'])
    .select(['keys.created_at', 'keys.expires_at', 'keys.revoked_at', 'accounts.name', 'accounts.limits'])
}

type KeyRow = Awaited<ReturnType<ReturnType<typeof keys>['execute']>>[number]

function toRecord(row: KeyRow): KeyRecord {
  const { scope, networks } = accessOf(row)
  const limits = toLimits(row.limits)
  return {
    ...{ identity: row.account, account: row.name, keyId: row.id },
    ...ends(row),
    ...(scope && { scope }),
    ...(networks && { networks: networkList(networks) }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

function toIssuedKey(row: KeyRow): IssuedKey {
  return {
    ...{ id: row.id, name: row.name, createdAt: row.created_at },
    ...ends(row),
    ...accessOf(row),
    ...(row.hint !== null && { hint: row.hint }),
    ...(row.used_at !== null && { lastUsedAt: Number(row.used_at) }),
  }
}

function accessOf({ scope, networks }: Pick<KeyRow, 'scope' | 'networks'>): KeyAccess {
  return {
    ...(scope !== null && { scope: keyScopes.filter((word) => scope.split(' ').includes(word)) }),
    ...(networks !== null && { networks: networks.split(' ') }),
  }
}

function toLimits(text: string | null): AccountLimits {
  return text === null ? {} : JSON.parse(text)
}

function ends({ expires_at, revoked_at }: Pick<KeyRow, 'expires_at' | 'revoked_at'>) {
  return { ...(expires_at !== null && { expiresAt: expires_at }), ...(revoked_at !== null && { revokedAt: revoked_at }) }
}

function keyRow(within: Database, id: string) {
  return keys(within).where('keys.id', '=', id).executeTakeFirst()
}

async function accountOf(
  within: Database,
  store: Store,
  { name, createdAt }: Pick<IssuedKey, 'name' | 'createdAt'>,
  actor: string,
): Promise<string> {
  const made = { id: randomUUID(), name, created_at: createdAt }
  await within
    .insertInto('accounts')
    .values(made)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { id } = await within.selectFrom('accounts').select('id').where('name', '=', name).executeTakeFirstOrThrow()
  if (id === made.id) await addAudit(within, store, { actor, action: 'account.create', subject: name, after: { id } })
  return id
}

/** Returns false if the same key exists: an earlier run of this transaction added it, and its COMMIT was not confirmed. */
async function insertKey(within: Database, account: string, key: Omit<IssuedKey, 'name'>, digest: string): Promise<boolean> {
  const known = await within.selectFrom('keys').select('id').where('digest', '=', digest).executeTakeFirst()
  if (known?.id === key.id) return false
  const row = { digest, id: key.id, account, created_at: key.createdAt }
  const validity = { expires_at: key.expiresAt ?? null, revoked_at: key.revokedAt ?? null }
  await within
    .insertInto('keys')
    .values({ ...row, ...validity, ...accessColumns(key) })
    .execute()
  return true
}

function accessColumns({ scope, networks, hint }: Omit<IssuedKey, 'name'>) {
  return { scope: scope?.join(' ') ?? null, networks: networks?.join(' ') ?? null, hint: hint ?? null }
}

interface EndedKey {
  readonly account: string
  /** The expiry before the change. */
  readonly expiredAt: number | null
  readonly expiresAt: number
}

/** Lets a key that is valid at `now` expire at `until`, unless it expires sooner. Undefined if it is not valid. */
async function endKey(within: Database, id: string, until: number, now: number): Promise<EndedKey | undefined> {
  const found = within.selectFrom('keys').select(['account', 'expires_at', 'revoked_at']).where('id', '=', id).forUpdate()
  const key = await found.executeTakeFirst()
  if (!key || key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) return undefined
  const expiresAt = Math.min(until, key.expires_at ?? until)
  await within.updateTable('keys').set({ expires_at: expiresAt }).where('id', '=', id).execute()
  return { account: key.account, expiredAt: key.expires_at, expiresAt }
}

// Kysely: an id at a provider is one create's, over all tags with the same account (docs/contract.md §4), also after a prune.

/** The other tags whose last configuration has the same account or the same URL: also those that the file lacks by now. */
export function otherTags(tag: unknown): RawBuilder<unknown> {
  return sql`select other.tag from providers as own join providers as other on other.account = own.account or other.url = own.url
    where own.tag = ${tag} and other.tag <> own.tag`
}

/** Whether the column has this tag or another one of the same account. One list, so that the index of ids is used whole. */
export function isOfAccount(column: string, tag: unknown): RawBuilder<boolean> {
  return sql`${sql.ref(column)} in (select cast(${tag} as text) union all ${otherTags(tag)})`
}

/** Whether two tags have the same account or the same URL, as last configured. */
export async function accountsOf(database: Database): Promise<(tag: string, other: string) => boolean> {
  const rows = await database.selectFrom('providers').select(['tag', 'account', 'url']).execute()
  const byTag = new Map(rows.map((row) => [row.tag, row]))
  return (tag, other) => {
    const [one, another] = [byTag.get(tag), byTag.get(other)]
    if (tag === other || !one || !another) return tag === other
    return one.url === another.url || (one.account !== null && one.account === another.account)
  }
}

/**
 * Whether a create under another tag of the account has the id, or a create had it until it was pruned. Called after the row that
 * may hold the id was locked, so that a prune that held the lock is visible.
 */
export async function isTakenElsewhere(
  within: Database,
  provider: string,
  id: string,
  { lockId }: Pick<Store, 'lockId'>,
): Promise<boolean> {
  const { isTaken, isShared } = await lookUp(within, provider, id)
  if (isTaken || !isShared) return isTaken
  await lockId(within, id)
  return (await lookUp(within, provider, id)).isTaken
}

async function lookUp(within: Database, provider: string, id: string) {
  const { rows } = await sql<{ readonly taken: number | boolean; readonly shared: number | boolean }>`
    select exists (
      select 1 from pruned_ids where provider_id = ${id} and ${isOfAccount('provider', provider)}
      union all
      select 1 from transactions where provider_id = ${id} and provider in (${otherTags(provider)}) and intent is not null
    ) as taken, exists (${otherTags(provider)}) as shared`.execute(within)
  const [{ taken, shared } = { taken: false, shared: false }] = rows
  return { isTaken: Boolean(taken), isShared: Boolean(shared) }
}

/**
 * Whether a create under any other tag has this swap, whatever the configuration says of accounts: no two swaps have the same id and
 * the same deposit address.
 */
export async function isBoundElsewhere(within: Database, provider: string, found: Transaction): Promise<boolean> {
  if (!found.depositAddress) return false
  const rows = await within
    .selectFrom('transactions')
    .select('record')
    .where('provider_id', '=', found.id)
    .where(sql<boolean>`provider in (select tag from providers where tag <> ${provider})`)
    .where(sql<boolean>`intent is not null and state = 'done'`)
    .$narrowType<{ record: NotNull }>()
    .execute()
  return rows.some(({ record }) => isSameDeposit(loadEntry(record).transaction, found))
}
