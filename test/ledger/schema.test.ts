/** The schema in steps: a version runs on the schema before its own and on the next one (docs/ledger.md). */
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { missingSteps, openLedger } from '../../src/ledger/index.ts'
import { postgresStore } from '../../src/ledger/postgres/store.ts'
import { schemaNumber } from '../../src/ledger/schema/steps.ts'
import { sqliteStore } from '../../src/ledger/sqlite/store.ts'
import type { Store } from '../../src/ledger/store.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { addSteps } from './later-steps.ts'
import { query } from './raw.ts'
import { facts } from './samples.ts'
import { describeStores, durableStores } from './stores.ts'

const first = 'schema 1'
/** The steps of the next version. */
const all = ['notes', 'more notes']

/** Until the test ends this process is one of the next version. */
function becomeNextVersion(): void {
  const added = addSteps({ notes: 2, 'more notes': 2 })
  onTestFinished(() => added[Symbol.dispose]())
}

async function storeAt(url: string): Promise<Store> {
  const store = await (url.startsWith('sqlite:')
    ? sqliteStore(url.slice('sqlite:'.length))
    : postgresStore(url, { timeoutMs: 5_000 }))
  onTestFinished(store.close)
  return store
}

function record(url: string, schema: number, kind = 'expand') {
  return query(url, `INSERT INTO schema_steps (name, schema, kind, ran_at) VALUES ('something', ${schema}, '${kind}', 0)`)
}

async function recorded(url: string): Promise<readonly unknown[]> {
  return (await query(url, 'SELECT name FROM schema_steps ORDER BY name')).map(({ name }) => name)
}

describeStores(durableStores, (shared) => {
  /** The URL of a ledger as the version of the schema before has it, with one transaction; this process becomes the next one. */
  async function ledgerOfBefore(): Promise<string> {
    const { url, ledger, close } = await shared().openNew()
    await ledger.upsert('owner', 'alpha', facts('x'))
    await close()
    becomeNextVersion()
    return url
  }

  test('a new ledger has the whole schema', async () => {
    becomeNextVersion()
    const url = await shared().createStore()
    expect(await missingSteps(url)).toEqual([first, ...all])
    const { close, missingSteps: missing } = await openLedger(url)
    await close()
    expect(missing).toEqual([])
    expect(await missingSteps(url)).toEqual([])
    expect(await recorded(url)).toEqual([first, ...all].sort())
  })

  test('a ledger of the schema before gets the missing steps, and keeps what it has', async () => {
    const url = await ledgerOfBefore()
    expect(await missingSteps(url)).toEqual(all)
    const { ledger, migrations, missingSteps: missing, warnings, close } = await openLedger(url)
    onTestFinished(close)
    expect([migrations, missing, warnings.join()]).toEqual([all, [], expect.not.stringContaining('ledger.migrate')])
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
    expect(await missingSteps(url)).toEqual([])
  })

  test('where it may not be migrated it works on the schema before, with one warning, and changes nothing of it', async () => {
    const url = await ledgerOfBefore()
    const opened = await openLedger(url, { mayMigrate: false, whenMissing: 'refuse' })
    onTestFinished(opened.close)
    const told = opened.warnings.filter((line) => line.startsWith('ledger.migrate'))
    expect(told).toEqual([
      `ledger.migrate: the ledger lacks "${all.join('", "')}", since ledger.migrate is manual: what needs it is off; run swapgate ledger migrate`,
    ])
    await opened.ledger.upsert('owner', 'alpha', facts('y'))
    expect(await opened.ledger.findAll('owner', 'alpha', ['x', 'y'])).toHaveLength(2)
    expect(await missingSteps(url)).toEqual(all)
  })

  test('a step that another process runs is noticed while this one works', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const url = await ledgerOfBefore()
    const store = await storeAt(url)
    await store.readSteps()
    const has = () => all.map((name) => store.has(name))
    expect(has()).toEqual(all.map(() => false))
    await (await openLedger(url)).close()
    expect(has()).toEqual(all.map(() => false))
    vi.advanceTimersByTime(2_001)
    await vi.waitFor(() => expect(has()).toEqual(all.map(() => true)), { timeout: eventTimeoutMs })
  })

  test('many may migrate at the same moment; each step runs once', async () => {
    const url = await ledgerOfBefore()
    const opened = await Promise.all(Array.from({ length: 6 }, () => openLedger(url)))
    await Promise.all(opened.map(({ close }) => close()))
    expect(opened.flatMap(({ migrations }) => migrations).sort()).toEqual([...all].sort())
    expect(await recorded(url)).toEqual([first, ...all].sort())
  })

  test('the next schema is used and left as it is, also by what still migrates', async () => {
    const url = await ledgerOfBefore()
    await record(url, schemaNumber() + 1)
    const { ledger, migrations, close } = await openLedger(url)
    onTestFinished(close)
    expect(migrations).toEqual(all)
    expect(await ledger.find('owner', 'alpha', 'x')).toBeDefined()
    expect(await recorded(url)).toEqual([first, ...all, 'something'].sort())
  })

  test.each(['expand', 'contract'])('a schema two ahead is refused in one line, and left as it is: %s', async (kind) => {
    const url = await ledgerOfBefore()
    await (await openLedger(url)).close()
    await record(url, schemaNumber() + 2, kind)
    const before = await recorded(url)
    for (const mayMigrate of [true, false])
      await expect(openLedger(url, { mayMigrate })).rejects.toThrow(
        /^The ledger in \S+ cannot be opened: a newer swapgate has migrated it \("schema \d+"\): start that version, [^\n]+$/,
      )
    await expect(missingSteps(url)).rejects.toThrow('a newer swapgate has migrated it')
    expect(await recorded(url)).toEqual(before)
  })

  test('no ledger is made where none may be: an error, or an empty one in its place', async () => {
    const url = await shared().createStore()
    await expect(openLedger(url, { whenMissing: 'refuse', mayMigrate: false })).rejects.toThrow(
      /^The ledger in \S+ cannot be opened: it does not exist; run swapgate ledger migrate, which makes it\.$/,
    )
    const { ledgerAdmin, close } = await openLedger(url, { whenMissing: 'show empty', mayMigrate: false })
    onTestFinished(close)
    expect(await ledgerAdmin.stats(0)).toMatchObject({ entries: [], accounts: 0 })
    expect(await missingSteps(url)).toContain(first)
  })
})

test('a table that others hold delays a start only briefly; it works without the step, which comes later', async () => {
  const { openSite } = await import('./stores.ts')
  const site = await openSite('PostgreSQL')
  onTestFinished(site.close)
  const url = await site.createLedger()
  becomeNextVersion()
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE claims IN SHARE UPDATE EXCLUSIVE MODE')
  const opened = await openLedger(url)
  await opened.close()
  expect(opened.missingSteps).toEqual(all)
  expect(opened.warnings.filter((line) => line.startsWith('ledger.migrate'))).toEqual([
    expect.stringContaining('since other sessions hold its tables'),
  ])
  await holder.query('COMMIT')
  const again = await openLedger(url)
  await again.close()
  expect([again.migrations, again.missingSteps]).toEqual([all, []])
})
