/** Kysely: accounts and the digests of their keys. */
import { randomUUID } from 'node:crypto'
import type { Accounts, IssuedKey } from '../../core/access/authentication.ts'
import type { Database } from './database.ts'
import { addAudit } from './operations/audit.ts'
import { prepare, type Store } from './store.ts'

export function accounts(store: Store): Accounts {
  const { database, write, isIn, toList } = store
  const find = prepare(database, ['digest'], ({ digest }) => keys(database).where('digest', '=', digest).compile())
  const findAll = (digests: readonly string[]) =>
    keys(database)
      .where(isIn('digest', toList(digests)))
      .execute()
  return {
    addKey: (key, digest, actor) =>
      write(async (within) => {
        if (!(await insertKey(within, await accountOf(within, store, key, actor), key, digest))) return
        const { id, name, expiresAt } = key
        const after = { account: name, expiresAt: toIso(expiresAt) }
        await addAudit(within, store, { actor, action: 'key.create', subject: id, after })
      }),
    async findKeys(digests) {
      const [digest] = digests
      const rows = digests.length === 1 && digest !== undefined ? await find({ digest }) : await findAll(digests)
      return new Map(rows.map((row) => [row.digest, { account: row.account, ...ends(row) }]))
    },
    async listKeys() {
      const rows = await keys(database).orderBy('keys.created_at').orderBy('keys.id').execute()
      return rows.map((row) => ({ id: row.id, name: row.name, createdAt: row.created_at, ...ends(row) }))
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
  }
}

function keys(database: Database) {
  return database
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account')
    .select(['keys.id', 'keys.digest', 'keys.account', 'accounts.name', 'keys.created_at', 'keys.expires_at', 'keys.revoked_at'])
}

type KeyRow = Awaited<ReturnType<ReturnType<typeof keys>['execute']>>[number]

function ends({ expires_at, revoked_at }: Pick<KeyRow, 'expires_at' | 'revoked_at'>) {
  return { ...(expires_at !== null && { expiresAt: expires_at }), ...(revoked_at !== null && { revokedAt: revoked_at }) }
}

function keyRow(within: Database, id: string) {
  return keys(within).where('keys.id', '=', id).executeTakeFirst()
}

async function accountOf(within: Database, store: Store, { name, createdAt }: IssuedKey, actor: string): Promise<string> {
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
    .values({ ...row, ...validity })
    .execute()
  return true
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

function toIso(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString()
}
