/** Where transactions, their owners and the keys of accounts are kept: SQLite or PostgreSQL, as the URL says. */
import type { Accounts } from '../core/accounts.ts'
import type { Bookkeeping } from '../core/bookkeeping.ts'
import type { Ledger } from '../core/ledger.ts'
import { accounts } from './ledger/accounts.ts'
import { bookkeeping } from './ledger/bookkeeping.ts'
import { claims } from './ledger/claims.ts'
import { entries } from './ledger/entries.ts'
import { intents } from './ledger/intents.ts'
import { looks } from './ledger/looks.ts'
import { migrate } from './ledger/migrate.ts'
import { sqliteStore } from './ledger/sqlite-store.ts'
import type { Store } from './ledger/store.ts'

export interface OpenLedger {
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly bookkeeping: Bookkeeping
  readonly close: () => Promise<void>
}

/**
 * `sqlite:<path>`, `sqlite::memory:` or `postgres://…`. Brings the store to this version's schema. Throws an `Error` that tells
 * an operator in one line what is wrong and what to do, without a credential.
 */
export async function openLedger(url: string): Promise<OpenLedger> {
  const store = await openStore(url)
  await migrate(store)
  const { close } = store
  const ledger = { ...intents(store), ...claims(store), ...entries(store), ...looks(store), close }
  return { ledger, accounts: accounts(store), bookkeeping: bookkeeping(store), close }
}

function openStore(url: string): Promise<Store> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1]
  if (file !== undefined) return sqliteStore(file)
  throw new Error('The URL of the ledger is to begin with "sqlite:", "postgres://" or "postgresql://".')
}
