/** The schema of a new ledger is that of the ledgers that grew to it in steps (test/ledger/previous). */
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { missingSteps, openLedger } from '../../src/ledger/index.ts'
import { catalogOf } from './catalog.ts'
import { restorePrevious } from './previous/previous.ts'
import { query } from './raw.ts'
import { describeStores, durableStores } from './stores.ts'

const isOfANewLedger = (line: string): boolean => line.includes('a new ledger was made')

describeStores(durableStores, (shared) => {
  async function grownLedger(): Promise<string> {
    const url = await shared().createStore()
    await restorePrevious(url.startsWith('sqlite:') ? 'sqlite' : 'postgres', url)
    return url
  }

  test('a new ledger has the tables, columns, constraints and indexes of one that the build before schema 1 left', async () => {
    const { url, close } = await shared().openNew()
    await close()
    const catalog = await catalogOf(url)
    expect(Object.keys(catalog)).toEqual(expect.arrayContaining(['transactions', 'claims', 'webhook_deliveries', 'schema_steps']))
    expect(catalog).toEqual(await catalogOf(await grownLedger()))
  })

  test.each([
    ['a column', 'ALTER TABLE keys DROP COLUMN hint'],
    ['an index', 'DROP INDEX timeline_by_intent'],
    ['a table', 'DROP TABLE settlements'],
  ])('%s less is another schema', async (_, statement) => {
    const url = await grownLedger()
    const before = await catalogOf(url)
    await query(url, statement)
    expect(await catalogOf(url)).not.toEqual(before)
  })

  test('a start gives it the name of schema 1, one of many at the same moment, and nothing else of it changes', async () => {
    const url = await grownLedger()
    const before = await catalogOf(url)
    const opened = await Promise.all(Array.from({ length: 4 }, () => openLedger(url)))
    await Promise.all(opened.map(({ close }) => close()))
    expect(opened.flatMap(({ migrations, warnings }) => [...migrations, ...warnings.filter(isOfANewLedger)])).toEqual(['schema 1'])
    expect(await query(url, 'SELECT name FROM schema_steps')).toEqual([{ name: 'schema 1' }])
    // The builds before refuse a name that they do not know.
    expect(await query(url, "SELECT name FROM kysely_migration WHERE name = 'schema 1'")).toHaveLength(1)
    expect(await catalogOf(url)).toEqual(before)
  })

  test('one that may not be migrated is used as it is', async () => {
    const url = await grownLedger()
    const before = await query(url, 'SELECT name FROM schema_steps ORDER BY name')
    const { ledgerAdmin, missingSteps, close } = await openLedger(url, { mayMigrate: false })
    onTestFinished(close)
    expect([missingSteps, (await ledgerAdmin.stats(0)).accounts]).toEqual([[], expect.any(Number)])
    expect(await query(url, 'SELECT name FROM schema_steps ORDER BY name')).toEqual(before)
  })

  test.each([
    ['its last step', "DELETE FROM schema_steps WHERE name = 'primary keys'"],
    ['one in between', "DELETE FROM schema_steps WHERE name = 'found order keys'"],
    ['all steps', 'DROP TABLE schema_steps'],
  ])('one that lacks %s is refused in one line, and left as it is', async (_, statement) => {
    const url = await grownLedger()
    await query(url, statement)
    const before = await query(url, 'SELECT name FROM kysely_migration')
    for (const mayMigrate of [true, false])
      await expect(openLedger(url, { mayMigrate })).rejects.toThrow(
        /^The ledger in \S+ cannot be opened: a build from before 2026-11-30 has made it: run swapgate ledger migrate of the build of that day first, and then start this one\.$/,
      )
    await expect(missingSteps(url)).rejects.toThrow('a build from before 2026-11-30 has made it')
    expect(await query(url, 'SELECT name FROM kysely_migration')).toEqual(before)
  })
})

test('a backup that reads every table delays no start', async () => {
  const { openSite } = await import('./stores.ts')
  const site = await openSite('PostgreSQL')
  onTestFinished(site.close)
  const url = await site.createStore()
  await restorePrevious('postgres', url)
  const backup = new pg.Client({ connectionString: url })
  await backup.connect()
  onTestFinished(() => backup.end())
  await backup.query('BEGIN; LOCK TABLE kysely_migration, schema_steps, transactions IN ACCESS SHARE MODE')
  const opened = await openLedger(url)
  await opened.close()
  expect(opened.migrations).toEqual(['schema 1'])
})
