/**
 * Makes what the tests of upgrades know of a released version (README.md): its program, and a ledger of it in each store after real use.
 * Needs sqlite3 and a whole installation of PostgreSQL. The argument is the commit of the release.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { initialise, postgresDirectory, startServer, stopServer } from '../../support/postgres-server.ts'
import { previousConfiguration, type Replayable } from './previous.ts'

const here = import.meta.dirname
const commit = process.argv[2]
if (commit === undefined) throw new Error('the commit of the release is missing')

/** The program in the layout of the package. */
function build(directory: string): void {
  const source = join(directory, 'source')
  mkdirSync(source)
  execFileSync('tar', ['x'], { cwd: source, input: execFileSync('git', ['archive', commit as string], { maxBuffer: 2 ** 30 }) })
  symlinkSync(join(process.cwd(), 'node_modules'), join(source, 'node_modules'))
  execFileSync(process.execPath, ['scripts/program.ts'], { cwd: source, stdio: 'inherit' })
  for (const path of ['dist/cli', 'src/cli/swapgate.js', 'config', 'package.json'])
    cpSync(join(source, path), join(directory, 'program', path), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'program/node_modules'))
  execFileSync('tar', ['czf', join(here, 'program.tar.gz'), '--exclude=./node_modules', '-C', join(directory, 'program'), '.'])
}

const sandboxPort = 20_871
const withdrawalAddress = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'

interface Made {
  readonly id?: string
  readonly depositAddress?: string
}

/** Uses the ledger as operators and clients do, and leaves it as after a `kill -9`. Returns what it then holds. */
async function use(directory: string, ledgerUrl: string): Promise<object> {
  const file = join(directory, 'gateway.yaml')
  const sandbox = { enabled: true, port: sandboxPort, data: join(directory, 'sandbox.db'), speed: 3, expiry: 12 }
  writeFileSync(
    file,
    JSON.stringify({ ...previousConfiguration(ledgerUrl, join(directory, 'program/config/assets.yaml')), sandbox }),
  )
  const program = join(directory, 'program/src/cli/swapgate.js')
  const swapgate = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [program, ...args, '--config', file], { encoding: 'utf8' })
  const facts = (...args: readonly string[]) => JSON.parse(swapgate(...args, '--json'))
  using gateway = spawn(process.execPath, [program, 'start', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string]
  const [, url = ''] = /gateway (http:\S+),/.exec(line) ?? []

  const [acme, globex] = ['acme', 'globex'].map((name) => facts('keys', 'create', '--name', name))
  facts('keys', 'create', '--name', 'initech', '--expires', '1h')
  swapgate('keys', 'revoke', facts('keys', 'create', '--name', 'globex').id)
  facts('keys', 'rotate', acme.id)

  const replayable: Replayable[] = []
  const seen: { readonly key: string; readonly id: string }[] = []
  const create = async (account: 'acme' | 'globex', amount: string, key?: string): Promise<Made> => {
    const body = `{"coinFrom":"BTC","coinTo":"USDTTRC20","amount":${amount},"withdrawalAddress":"${withdrawalAddress}"}`
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${account === 'acme' ? acme.key : globex.key}`,
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const response = await fetch(`${url}/a/api/v2/transactions`, { method: 'POST', headers, body })
    const made = (await response.json()) as Made
    if (made.id !== undefined) seen.push({ key: headers.authorization, id: made.id })
    if (key !== undefined && made.id !== undefined) replayable.push({ account, key, body, id: made.id })
    return response.ok ? made : {}
  }
  const pay = async ({ depositAddress }: Made, amount?: number): Promise<void> => {
    const body = JSON.stringify({ depositAddress, ...(amount !== undefined && { amount }) })
    const response = await fetch(`http://127.0.0.1:${sandboxPort}/sandbox/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    if (!response.ok) throw new Error(await response.text())
  }
  /** Past the age at which the ledger answers by itself. */
  const look = async (): Promise<void> => {
    await delay(1_500)
    for (const { key: authorization, id } of seen) await fetch(`${url}/a/api/v2/transactions/${id}`, { headers: { authorization } })
  }

  // Pruned, and looked at no more.
  for (const amount of ['0.11', '0.12']) await pay(await create('acme', amount))
  await pay(await create('globex', '0.13', 'pruned-1'), 0.000_01)
  await delay(14_000)
  await look()
  swapgate('ledger', 'prune', '--before', new Date(Date.now() + 60_000).toISOString())

  // Ended: overdue, success, refunded.
  await create('acme', '0.21', 'overdue-1')
  await pay(await create('acme', '0.22', 'success-1'))
  await pay(await create('globex', '0.23', 'refunded-1'), 0.000_01)
  await delay(14_000)
  await look()
  // Unknown, a mismatch, two that may be one, and one that a person ended.
  await create('acme', '0.31735705', 'unknown-1')
  await create('globex', '0.32735708', 'twice-1')
  await create('globex', '0.33735707', 'mismatch-1')
  await create('acme', '0.34735705')
  const ended = facts('ledger', 'unknown').find(
    ({ requested }: { requested: { amountIn: string } }) => requested.amountIn === '0.34735705',
  )
  swapgate('ledger', 'resolve', ended.intent, '--none')
  // Under way, one in each status when they are looked at.
  for (let status = 0; status < 5; status++) {
    await pay(await create(status % 2 === 0 ? 'acme' : 'globex', `0.4${status}`, `open-${status}`))
    await delay(3_000)
  }
  await create('globex', '0.25', 'wait-1')
  swapgate('providers', 'drain', 'beta')
  swapgate('providers', 'weights', 'alpha=90', 'beta=10', '--force')
  await look()
  // In flight.
  create('acme', '0.61735706', 'in-flight-1').catch(() => {})
  await delay(1_000)
  gateway.kill('SIGKILL')
  await once(gateway, 'exit')
  const exported = swapgate('ledger', 'export')
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row))
  return {
    exported,
    keys: facts('keys', 'list'),
    audit: facts('audit'),
    stats: facts('ledger', 'stats'),
    unknown: facts('ledger', 'unknown'),
    replayable: replayable.filter(({ id }) => exported.some((row) => row.id === id)),
  }
}

function keep(name: string, dump: string, holds: object): void {
  const actor = `cli:${userInfo().username}@${hostname()}`
  writeFileSync(join(here, `${name}.sql`), dump.replaceAll(actor, 'cli:operator@gateway'))
  writeFileSync(join(here, `${name}.json`), `${JSON.stringify(holds, null, 1)}\n`.replaceAll(actor, 'cli:operator@gateway'))
}

const directory = mkdtempSync(join(tmpdir(), 'swapgate-previous-'))
try {
  build(directory)
  const database = join(directory, 'ledger.db')
  const inSqlite = await use(directory, `sqlite:${database}`)
  keep('sqlite', execFileSync('sqlite3', [database, '.dump'], { encoding: 'utf8' }), inSqlite)

  rmSync(join(directory, 'sandbox.db'), { force: true })
  const data = postgresDirectory()
  initialise(data, join(data, 'data'))
  const server = await startServer(data, join(data, 'data'))
  const inPostgres = await use(directory, server.url)
  const options = ['--inserts', '--no-owner', '--no-privileges', server.url]
  const dump = execFileSync('pg_dump', options, { encoding: 'utf8' })
  await stopServer(server)
  rmSync(data, { recursive: true })
  // Commands of psql, and settings that only some versions of the server know.
  keep('postgres', dump.replace(/^(?:\\|SET |SELECT pg_catalog\.set_config|--).*\n|^\n/gm, ''), inPostgres)
} finally {
  rmSync(directory, { recursive: true })
}
