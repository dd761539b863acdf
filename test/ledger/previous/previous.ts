/** Ledgers of an earlier build after real use (README.md). */
import { mkdirSync, readFileSync } from 'node:fs'
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

/** What the commands of that build printed of the ledger. */
export interface PreviousLedger {
  readonly exported: readonly { readonly id: string; readonly status: string; readonly owner: string }[]
  readonly keys: readonly { readonly account: string }[]
  readonly audit: readonly object[]
  readonly stats: object
  readonly unknown: readonly object[]
  readonly accounts: readonly object[]
  readonly webhooks: readonly { readonly oldSecretEndsAt: string | null }[]
  /** Of the webhook of acme. */
  readonly deliveries: readonly { readonly webhook: string }[]
  readonly found: { readonly undecided: readonly object[]; readonly assigned: readonly object[] }
  readonly usage: { readonly since: string }
  /** The timeline of one swap. */
  readonly shown: { readonly swap: { readonly id: string } }
  readonly replayable: readonly Replayable[]
}

/** Of the webhooks; nobody listens there any more. */
export const receiverUrl = 'http://127.0.0.1:20872/swaps'

/** That with which the ledgers were made; its providers were the sandbox, each with a list of its own. */
export function previousConfiguration(ledgerUrl: string, assets: string): Readonly<Record<string, unknown>> {
  const provider = (form: string, key: string) => ({
    form,
    url: `http://127.0.0.1:20871/${form.toLowerCase()}/api/v2`,
    key,
    extraIds: true,
  })
  return {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    assets,
    ledger: { url: ledgerUrl },
    providers: { alpha: provider('A', 'sandbox-key-1'), beta: provider('B', 'sandbox-key-2') },
    webhooks: { key: Buffer.alloc(32, 'key of the tests').toString('base64'), allow: [new URL(receiverUrl).origin] },
    routing: { providers: ['alpha', 'beta'], strategy: 'weighted', weights: { alpha: 50, beta: 50 } },
  }
}

export type PreviousStore = 'sqlite' | 'postgres'

/** Writes the ledger of that build into an empty store. Returns what it holds. */
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
