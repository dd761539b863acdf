/** Kysely: accounts and the digests of their keys. */
import { randomUUID } from 'node:crypto'
import type { Accounts, IssuedKey } from '../../core/access/accounts.ts'
import type { Database } from './database.ts'
import { prepare, type Store } from './store.ts'

export function accounts({ database, write, writeOne }: Store): Accounts {
  const find = prepare(database, ['digest'], ({ digest }) => keys(database).where('digest', '=', digest).compile())
  const findAll = (digests: readonly string[]) => keys(database).where('digest', 'in', digests).execute()
  return {
    addKey: (key, digest) =>
      write(async (within) => {
        await insertKey(within, await accountOf(within, key), key, digest)
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
    revokeKey: (id, at) =>
      writeOne(async (within) => {
        const revoked = within.updateTable('keys').set({ revoked_at: at }).where('id', '=', id).where('revoked_at', 'is', null)
        const { numUpdatedRows } = await revoked.executeTakeFirstOrThrow()
        return numUpdatedRows === 1n
      }),
    rotateKey: (id, until, key, digest) =>
      write(async (within) => {
        const account = await endKey(within, id, until, key.createdAt)
        if (account !== undefined) await insertKey(within, account, key, digest)
        return account !== undefined
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

async function accountOf(within: Database, { name, createdAt }: IssuedKey): Promise<string> {
  const made = { id: randomUUID(), name, created_at: createdAt }
  await within
    .insertInto('accounts')
    .values(made)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { id } = await within.selectFrom('accounts').select('id').where('name', '=', name).executeTakeFirstOrThrow()
  return id
}

async function insertKey(within: Database, account: string, key: Omit<IssuedKey, 'name'>, digest: string): Promise<void> {
  const row = { digest, id: key.id, account, created_at: key.createdAt }
  const ending = { expires_at: key.expiresAt ?? null, revoked_at: key.revokedAt ?? null }
  await within
    .insertInto('keys')
    .values({ ...row, ...ending })
    .execute()
}

/** The account of a key that was valid at `now`; it ends at `until` unless it ends sooner. */
async function endKey(within: Database, id: string, until: number, now: number): Promise<string | undefined> {
  const found = within.selectFrom('keys').select(['account', 'expires_at', 'revoked_at']).where('id', '=', id).forUpdate()
  const key = await found.executeTakeFirst()
  if (!key || key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) return undefined
  const end = Math.min(until, key.expires_at ?? until)
  await within.updateTable('keys').set({ expires_at: end }).where('id', '=', id).execute()
  return key.account
}
