/** What the ledger costs at 10,000 and at 1,000,000 rows, in both stores; exits with 1 if a list or a get costs over twice as much. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { LedgerEntry, LedgerListQuery } from '../src/core/ports/ledger.ts'
import { type OpenLedger, openLedger } from '../src/ledger/index.ts'
import { facts, intent } from '../test/ledger/samples.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { fill } from './ledger/fill.ts'
import { heavy, provider, start, year } from './ledger/rows.ts'
import { median } from './median.ts'

const sizes = [10_000, 1_000_000] as const
const wanted = 2
const rounds = 25
const calls = 20
const pageSize = 20
const everything = { first: -(2n ** 63n), last: 2n ** 63n }
/** A tenth of the year, from its middle on. */
const range = { first: start + year / 2n, last: start + (year * 6n) / 10n }

type Action = (ledger: OpenLedger['ledger'], rows: number) => Promise<unknown>

const list = (page: (ofAccount: number) => number, created: LedgerListQuery['created']): Action => {
  return (ledger, rows) => ledger.list(heavy, { page: page(rows / 10), size: pageSize, created })
}
const reads: Readonly<Record<string, Action>> = {
  'first page': list(() => 1, everything),
  'middle page': list((count) => count / pageSize / 2, everything),
  'last page': list((count) => count / pageSize, everything),
  'date range, first page': list(() => 1, range),
  'date range, last page': list((count) => count / pageSize / 10, range),
  get: (ledger, rows) => ledger.find(heavy, provider, `tx-${rows / 2}`),
}
let made = 0
let known: LedgerEntry | undefined
const writes: Readonly<Record<string, Action>> = {
  'upsert, existing': async (ledger) => {
    known = await ledger.upsert(heavy, provider, facts('tx-0', { status: 'sending' }, { sequence: ++made }), known)
  },
  'upsert, new': (ledger) => ledger.upsert(heavy, provider, facts(`seen-${made++}`)),
  'begin + settle': async (ledger) => {
    const create = intent({ owner: heavy, provider })
    await ledger.begin(create)
    await ledger.complete(create.id, facts(`made-${made++}`))
  },
}

/** Microseconds for a call. */
async function time(action: Action, { ledger }: OpenLedger, rows: number): Promise<number> {
  const before = process.hrtime.bigint()
  for (let n = 0; n < calls; n++) await action(ledger, rows)
  return Number(process.hrtime.bigint() - before) / calls / 1_000
}

/** The sizes take turns, so that what else the machine does meets both. */
async function compare(action: Action, stores: readonly OpenLedger[]): Promise<readonly number[]> {
  const times: number[][] = sizes.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [n, rows] of sizes.entries()) times[n]?.push(await time(action, stores[n] as OpenLedger, rows))
  }
  return times.map(median)
}

/** True where no read costs too much. */
async function measure(name: string, createUrl: () => Promise<string>, bytes: (url: string) => Promise<number>): Promise<boolean> {
  const urls = await Promise.all(sizes.map(createUrl))
  const stores: OpenLedger[] = []
  for (const [n, rows] of sizes.entries()) {
    const url = urls[n] as string
    await (await openLedger(url)).close()
    await fill(url, rows)
    console.log(`${name}: ${rows} rows, ${Math.round((await bytes(url)) / rows)} bytes for each`)
    stores.push(await openLedger(url))
  }
  let isWithin = true
  for (const [what, action] of [...Object.entries(reads), ...Object.entries(writes)]) {
    const [small = 0, large = 0] = await compare(action, stores)
    const ratio = large / small
    if (what in reads && ratio > wanted) isWithin = false
    console.log(`${name.padEnd(11)} ${what.padEnd(23)} ${format(small)} ${format(large)} ${ratio.toFixed(2).padStart(6)}`)
  }
  await Promise.all(stores.map(({ close }) => close()))
  return isWithin
}

function format(microseconds: number): string {
  return `${microseconds.toFixed(0).padStart(8)} µs`
}

const directory = mkdtempSync(join(tmpdir(), 'swapgate-bench-'))
const server = await startPostgres(process.pid)
try {
  let files = 0
  const createFile = async () => `sqlite:${join(directory, `${files++}.db`)}`
  const sizeOfFile = async (url: string) => statSync(url.slice('sqlite:'.length)).size
  const results = [
    await measure('SQLite', createFile, sizeOfFile),
    await measure('PostgreSQL', server.createDatabase, sizeOfDatabase),
  ]
  console.log(`A list or a get is to cost at most ${wanted} times as much.`)
  process.exitCode = results.every(Boolean) ? 0 : 1
} finally {
  rmSync(directory, { recursive: true })
  await server.close()
}

async function sizeOfDatabase(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size')
  await client.end()
  return Number(rows[0]?.size)
}
