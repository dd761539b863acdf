/** The version of the schema before, as it was released: its program, and ledgers of it after real use (README.md). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const here = import.meta.dirname

/** A create of which the ledger has the first response. */
export interface Replayable {
  readonly account: string
  /** The `Idempotency-Key`. */
  readonly key: string
  readonly body: string
  /** Of the transaction. */
  readonly id: string
}

/** What the commands of that version printed of the ledger. */
export interface PreviousLedger {
  readonly exported: readonly { readonly id: string; readonly status: string; readonly owner: string }[]
  readonly keys: readonly { readonly account: string }[]
  readonly audit: readonly object[]
  readonly stats: object
  readonly unknown: readonly object[]
  readonly replayable: readonly Replayable[]
}

/** That with which the ledgers were made; its providers were the sandbox. */
export function previousConfiguration(ledgerUrl: string, assets: string): Readonly<Record<string, unknown>> {
  const key = 'sandbox-key-1'
  const provider = (form: string) => ({ form, url: `http://127.0.0.1:20871/${form.toLowerCase()}/api/v2`, key, extraIds: true })
  return {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    assets,
    ledger: { url: ledgerUrl },
    providers: { alpha: provider('A'), beta: provider('B') },
    routing: { providers: ['alpha', 'beta'], strategy: 'weighted', weights: { alpha: 90, beta: 10 } },
  }
}

export type PreviousStore = 'sqlite' | 'postgres'

/** Writes the ledger of that version into an empty store. Returns what it holds. */
export async function restorePrevious(store: PreviousStore, url: string): Promise<PreviousLedger> {
  const dump = readFileSync(join(here, `${store}.sql`), 'utf8')
  if (store === 'sqlite') {
    const file = url.slice('sqlite:'.length)
    mkdirSync(join(file, '..'), { recursive: true })
    const database = new DatabaseSync(file)
    database.exec(dump)
    database.close()
  } else {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(dump)
    // The server's clock has gone on since: the keys are as old as they were.
    await client.query(`update claims set created_at = created_at + (
      select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - max(created_at) from claims
    )`)
    await client.end()
  }
  return JSON.parse(readFileSync(join(here, `${store}.json`), 'utf8'))
}

let unpacked: string | undefined

/** The path of its program. */
export function previousProgram(): string {
  unpacked ??= unpack()
  return join(unpacked, 'src/cli/swapgate.js')
}

function unpack(): string {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-previous-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  execFileSync('tar', ['xzf', join(here, 'program.tar.gz'), '-C', directory])
  // Its packages are in its files, but for what its pages read.
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'))
  return directory
}
