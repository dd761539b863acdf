/** Which command changes the schema of the ledger, or makes one (docs/contract-operators.md §13). */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startFromFile } from '../../src/process/reload.ts'
import { addSteps } from '../ledger/later-steps.ts'
import { query } from '../ledger/raw.ts'
import { openSite } from '../ledger/stores.ts'
import { runCommand } from '../support/command.ts'
import { Place } from './place.ts'

const postgres = await openSite('PostgreSQL')
afterAll(() => postgres.close())

/** Of the version that runs here, once the ledger was made. */
const all = ['notes', 'more notes']

/** Every command but `start` and `ledger migrate`, with what it needs. */
const commands: Readonly<Record<string, string>> = {
  check: '',
  'accounts list': '',
  'accounts show': 'acme',
  'accounts set': 'acme --read 9',
  'accounts reset': 'acme',
  init: '',
  'keys create': '--name acme',
  'keys list': '',
  'keys find': '',
  'keys revoke': 'x',
  'keys rotate': 'x',
  'ledger stats': '',
  'ledger show': 'alpha~x',
  'ledger find': 'x',
  'ledger unknown': '',
  'ledger resolve': 'x --none',
  'ledger settle': 'alpha~x --status success --note because',
  'ledger settle-all': '--confirm 1-none',
  'ledger export': '',
  'ledger prune': '--before 2026-01-01',
  'ledger backup': 'copy.db',
  'ledger mark-restored': '',
  'ledger rebuild': 'alpha',
  'ledger found list': '',
  'ledger found assign': 'alpha~x --account acme --no-key --unconfirmed --note because',
  'ledger found dismiss': 'alpha~x --note because',
  'ledger found unassign': 'alpha~x --note because',
  'ledger found undismiss': 'alpha~x --note because',
  'ledger found free': 'order-1 --account acme --note because',
  'transactions read': 'alpha~x',
  'transactions refund': 'alpha~x --note because',
  'transactions continue': 'alpha~x --note because',
  'transactions refund-address': 'alpha~x --address bc1q --note because',
  'providers status': '',
  'providers diff': 'alpha beta',
  'providers try': 'alpha',
  'providers mirror': '',
  'providers drain': 'alpha --force',
  'providers activate': 'alpha',
  'providers off': 'alpha --force',
  'providers weights': 'alpha=1 --force',
  'providers reset': '',
  'assets check': 'alpha',
  audit: '',
  'webhooks add': 'acme https://hooks.example/swaps',
  'webhooks list': '',
  'webhooks show': 'x',
  'webhooks remove': 'x',
  'webhooks rotate': 'x',
  'webhooks deliveries': 'x',
  'webhooks test': 'x',
  'webhooks listen': 'nobody',
  'webhooks trigger': 'http://127.0.0.1:9/',
  usage: '',
  'webhooks replay': 'x',
}
/** What an operator does before the first start. */
const making = /^(?:keys create|accounts (?:set|reset)|providers (?:drain|activate|off|weights|reset))$/

/** By the help of each command. */
async function commandsBelow(path: readonly string[]): Promise<readonly string[]> {
  const { out } = await runCommand([...path, '--help'])
  const lines = out.join('\n').split('\n')
  const start = lines.indexOf('Commands:')
  if (start < 0) return [path.join(' ')]
  const names = lines.slice(start + 1).flatMap((line) => /^ {2}([\w-]+)/.exec(line)?.[1] ?? [])
  const below = await Promise.all(names.filter((name) => name !== 'help').map((name) => commandsBelow([...path, name])))
  return below.flat()
}

it('every command is known here', async () => {
  expect([...(await commandsBelow([]))].sort()).toEqual([...Object.keys(commands), 'ledger migrate', 'start'].sort())
})

describe.each(['SQLite', 'PostgreSQL'])('%s', (kind) => {
  async function emptyPlace(): Promise<Place> {
    return new Place(kind === 'PostgreSQL' ? { ledgerUrl: await postgres.createStore() } : {})
  }

  async function placeOfSchemaBefore(): Promise<Place> {
    const place = await emptyPlace()
    await (await place.stores()).close()
    const added = addSteps({ notes: 2, 'more notes': 2 })
    onTestFinished(() => added[Symbol.dispose]())
    return place
  }

  /** A server's ledger is not copied by this program, which is wrong usage (2). */
  async function runIn(place: Place, command: string, args: string) {
    const words = args.split(' ').filter((word) => word !== '')
    const paths = words.map((word) => (word.endsWith('.db') ? join(place.directory, word) : word))
    const result = await place.swapgate(...command.split(' '), ...paths)
    return kind === 'PostgreSQL' && command === 'ledger backup' ? { ...result, exitCode: result.exitCode - 1 } : result
  }

  const schemaOf = ({ ledgerUrl }: Place) =>
    query(
      ledgerUrl,
      kind === 'SQLite'
        ? 'SELECT name, sql FROM sqlite_master ORDER BY name'
        : `SELECT relname, relkind, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname`,
    )

  it.each(Object.entries(commands))('%s leaves the schema of the ledger as it is', async (command, args) => {
    using place = await placeOfSchemaBefore()
    const before = await schemaOf(place)
    const { exitCode, err } = await runIn(place, command, args)
    expect(exitCode).toBeLessThan(2)
    expect(err.join('\n')).not.toContain('cannot be opened')
    expect(await schemaOf(place)).toEqual(before)
  })

  it.each(Object.entries(commands).filter(([command]) => !making.test(command)))('%s makes no ledger', async (command, args) => {
    using place = await emptyPlace()
    const { exitCode } = await runIn(place, command, args)
    expect(exitCode).toBeLessThan(2)
    if (kind === 'SQLite') expect(existsSync(place.ledgerUrl.replace('sqlite:', ''))).toBe(false)
    else expect(await schemaOf(place)).toEqual([])
  })

  it('ledger migrate --check says what is missing, also in its exit code', async () => {
    using place = await placeOfSchemaBefore()
    const check = () => place.swapgate('ledger', 'migrate', '--check')
    expect(await check()).toEqual({ exitCode: 1, out: all.map((step) => `missing: ${step}`), err: [] })
    expect(await check()).toMatchObject({ exitCode: 1 })
    expect((await place.swapgate('ledger', 'migrate', '--check', '--json')).out).toEqual([JSON.stringify({ missing: all })])
    const migrated = await Promise.all([1, 2, 3].map(() => place.swapgate('ledger', 'migrate')))
    expect(migrated.map(({ exitCode, err }) => [exitCode, err])).toEqual([1, 2, 3].map(() => [0, []]))
    expect(await check()).toEqual({ exitCode: 0, out: ['The ledger already has the schema of this version.'], err: [] })
  })

  it('with ledger.migrate: manual only ledger migrate makes the ledger', async () => {
    using place = await emptyPlace()
    configure(place, 'manual')
    const refused = {
      exitCode: 1,
      err: [expect.stringMatching(/ cannot be opened: it does not exist; run swapgate ledger migrate, which makes it\.$/)],
    }
    expect(await place.swapgate('keys', 'create', '--name', 'acme')).toMatchObject(refused)
    expect(await started(place)).toEqual(refused)
    expect((await place.swapgate('ledger', 'migrate')).exitCode).toBe(0)
    expect((await place.swapgate('keys', 'create', '--name', 'acme')).exitCode).toBe(0)
    expect((await started(place)).exitCode).toBe(0)
  })

  it('with ledger.migrate: manual a start runs on the schema before, and says what is missing', async () => {
    using place = await placeOfSchemaBefore()
    configure(place, 'manual')
    const before = await schemaOf(place)
    const { exitCode, err } = await started(place)
    const told = err.filter((line) => line.includes('ledger.migrate'))
    expect(exitCode).toBe(0)
    expect(told).toEqual([expect.stringContaining(`the ledger lacks "${all.join('", "')}", since ledger.migrate is manual`)])
    expect(await schemaOf(place)).toEqual(before)
    configure(place, 'auto')
    expect((await started(place)).err.filter((line) => line.includes('ledger.migrate'))).toEqual([])
    expect(await schemaOf(place)).not.toEqual(before)
  })
})

function configure({ file, ledgerUrl }: Place, migrate: 'auto' | 'manual'): void {
  writeFileSync(
    file,
    `server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }
routing: { providers: [alpha] }
ledger: { url: "${ledgerUrl}", migrate: ${migrate} }
`,
  )
}

/** Starts and ends it. */
async function started({ file }: Place): Promise<{ readonly exitCode: number; readonly err: readonly string[] }> {
  const err: string[] = []
  const print = (line: string): void => void err.push(line)
  const gateway = await startFromFile(file, {}, { isTerminal: false, out: print, err: print })
  await gateway?.stop()
  return { exitCode: gateway ? 0 : 1, err }
}

it('an unknown directory of the ledger is still a fault of the file', async () => {
  using place = new Place({ ledgerUrl: 'sqlite:/dev/null/ledger.db' })
  expect(await place.swapgate('ledger', 'stats')).toMatchObject({ exitCode: 1, err: [expect.stringContaining('cannot be opened')] })
  expect(existsSync(join(place.directory, 'ledger.db'))).toBe(false)
})
