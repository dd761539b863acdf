/** node:sqlite: the sandbox's swaps in one file. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store, Swap } from '../../sandbox/store.ts'

const tables = `
  CREATE TABLE IF NOT EXISTS swaps (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    deposit_address TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    facts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS swaps_of_owner ON swaps (owner, created_at, sequence);
`
const selected = 'FROM swaps WHERE owner = ? AND created_at BETWEEN ? AND ?'

/** Opens the file, or creates it and its directory; `:memory:` is not stored. */
export function sandboxStore(file: string): Store {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: 5_000 })
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(tables)
  const insert = database.prepare('INSERT INTO swaps (id, owner, deposit_address, created_at, facts) VALUES (?, ?, ?, ?, ?)')
  const update = database.prepare('UPDATE swaps SET facts = ? WHERE id = ?')
  const byId = database.prepare('SELECT facts FROM swaps WHERE id = ?')
  const byAddress = database.prepare('SELECT facts FROM swaps WHERE deposit_address = ?')
  const list = database.prepare(`SELECT facts ${selected} ORDER BY created_at DESC, sequence DESC LIMIT ? OFFSET ?`)
  const count = database.prepare(`SELECT count(*) AS total ${selected}`)
  return {
    insert: (swap) => void insert.run(swap.id, swap.owner, swap.depositAddress, swap.createdAt, JSON.stringify(swap)),
    update: (swap) => void update.run(JSON.stringify(swap), swap.id),
    find: (id) => toSwap(byId.get(id)),
    findByDepositAddress: (address) => toSwap(byAddress.get(address)),
    list: ({ owner, from, to }, { page, size }) =>
      list
        .all(owner, from, to, size, BigInt(page - 1) * BigInt(size))
        .map(toSwap)
        .filter((swap) => swap !== undefined),
    count: ({ owner, from, to }) => Number(count.get(owner, from, to)?.total),
    close: () => database.close(),
  }
}

type Row = ReturnType<ReturnType<DatabaseSync['prepare']>['get']>

/** Trusts the JSON: only `insert` and `update` write it. */
function toSwap(row: Row): Swap | undefined {
  return row && JSON.parse(String(row.facts))
}
