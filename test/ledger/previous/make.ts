/**
 * Makes the ledgers of an earlier build (README.md): one in each store, after real use by its program. Needs sqlite3 and a whole installation
 * of PostgreSQL. The argument is the commit of the build.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { initialise, postgresDirectory, startServer, stopServer } from '../../support/postgres-server.ts'
import { previousConfiguration, type Replayable, receiverUrl } from './previous.ts'

const here = import.meta.dirname
const commit = process.argv[2]
if (commit === undefined) throw new Error('the commit of the build is missing')

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
}

const sandboxPort = 20_871
/** Until a swap that is paid has ended, and the gateway knows it. */
const endsAfterMs = 18_000
/** A restore, and its steps. */
const gatewayFollowsMs = 6_000
const withdrawalAddress = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'

interface Made {
  readonly id?: string
  readonly depositAddress?: string
}

/** Where webhooks go to; it takes what comes until it is out of order. */
class Receiver implements Disposable {
  isOutOfOrder = false
  private readonly server = createServer((_, response) => {
    if (this.isOutOfOrder) response.writeHead(500).end('out of order')
    else response.writeHead(204).end()
  })

  constructor() {
    this.server.listen(Number(new URL(receiverUrl).port), '127.0.0.1')
  }

  [Symbol.dispose](): void {
    this.server.close().closeAllConnections()
  }
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
  using receiver = new Receiver()
  using gateway = spawn(process.execPath, [program, 'start', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(gateway.stdout.setEncoding('utf8'), 'data')) as [string]
  const [, url = ''] = /gateway (http:\S+),/.exec(line) ?? []

  const [acme, globex] = ['acme', 'globex'].map((name) => facts('keys', 'create', '--name', name))
  facts('keys', 'create', '--name', 'initech', '--expires', '1h')
  swapgate('keys', 'revoke', facts('keys', 'create', '--name', 'globex').id)
  facts('keys', 'rotate', acme.id)
  facts('keys', 'create', '--name', 'umbrella', '--scope', 'quote,read', '--allow', '203.0.113.0/24,2001:db8::/32')
  facts('accounts', 'set', 'acme', '--quotes', '600', '--create', '700')
  facts('accounts', 'set', 'hooli', '--streams', '3')
  const [confirmed, held, removed] = ['acme', 'globex', 'initech'].map((name) => facts('webhooks', 'add', name, receiverUrl))
  facts('webhooks', 'rotate', held.id)
  swapgate('webhooks', 'remove', removed.id)
  const events = await fetch(`${url}/a/api/v2/events`, { headers: { authorization: `Bearer ${acme.key}` } })
  await events.body?.cancel()

  const replayable: Replayable[] = []
  const seen: { readonly key: string; readonly id: string }[] = []
  const bodyOf = (amount: string, more = ''): string =>
    `{"coinFrom":"BTC","coinTo":"USDTTRC20","amount":${amount},"withdrawalAddress":"${withdrawalAddress}"${more}}`
  const create = async (account: 'acme' | 'globex', amount: string, key?: string, more?: string): Promise<Made> => {
    const body = bodyOf(amount, more)
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
  /** As by somebody who has the key at the provider: the gateway knows nothing of it. */
  const createDirectly = async (amount: string): Promise<Made> => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer sandbox-key-1' }
    const transactions = `http://127.0.0.1:${sandboxPort}/a/api/v2/transactions`
    const response = await fetch(transactions, { method: 'POST', headers, body: bodyOf(amount) })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as Made
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
  await delay(endsAfterMs)
  await look()
  swapgate('ledger', 'prune', '--before', new Date(Date.now() + 60_000).toISOString())

  // A restore: of two orders that were found, each with a create that waited for it, one is assigned. One of the webhooks waits for a person.
  const since = new Date().toISOString()
  const orders = [await createDirectly('0.28'), await createDirectly('0.29')]
  swapgate('ledger', 'mark-restored', '--since', since)
  await delay(gatewayFollowsMs)
  swapgate('ledger', 'rebuild', 'alpha', 'beta')
  await delay(gatewayFollowsMs)
  for (const [at, amount] of ['0.28', '0.29'].entries()) await create('acme', amount, `found-${at}`)
  const assigned = `alpha~${orders[0]?.id}`
  const client = ['--account', 'acme', '--key', 'found-0', '--withdrawal-address', withdrawalAddress]
  swapgate('ledger', 'found', 'assign', assigned, ...client, '--note', 'the client named it')
  replayable.push({ account: 'acme', key: 'found-0', body: bodyOf('0.28'), id: assigned })
  seen.push({ key: `Bearer ${acme.key}`, id: assigned })
  await pay(orders[0] ?? {})
  swapgate('ledger', 'mark-restored', '--webhooks', confirmed.id, '--note', 'as before')

  // Quotes that are kept: one for a create, one for none.
  const quotes: { quoteId?: string }[] = []
  for (const amount of ['0.26', '0.27']) {
    const quote = `${url}/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=${amount}&rateType=fixed&quoteId=true`
    quotes.push((await (await fetch(quote, { headers: { authorization: `Bearer ${acme.key}` } })).json()) as { quoteId?: string })
  }
  await create('acme', '0.26', 'firm-1', `,"rateType":"fixed","quoteId":"${quotes[0]?.quoteId}"`)

  // Ended: overdue, success, refunded.
  await create('acme', '0.21', 'overdue-1')
  await pay(await create('acme', '0.22', 'success-1'))
  await pay(await create('globex', '0.23', 'refunded-1'), 0.000_01)
  await delay(endsAfterMs)
  await look()
  receiver.isOutOfOrder = true
  // Unknown, a mismatch, two that may be one, and one that a person ended.
  await create('acme', '0.31735705', 'unknown-1')
  await create('globex', '0.32735708', 'twice-1')
  await create('globex', '0.33735707', 'mismatch-1')
  await create('acme', '0.34735705')
  const ended = facts('ledger', 'unknown').find(
    ({ requested }: { requested: { amountIn: string } }) => requested.amountIn === '0.34735705',
  )
  swapgate('ledger', 'resolve', ended.intent, '--none')
  swapgate('ledger', 'settle-all', '--provider', 'alpha', '--none', '--note', 'only looked at')
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
  create('acme', '0.36735706', 'in-flight-1').catch(() => {})
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
    accounts: facts('accounts', 'list'),
    webhooks: facts('webhooks', 'list'),
    deliveries: facts('webhooks', 'deliveries', confirmed.id),
    found: { undecided: facts('ledger', 'found', 'list'), assigned: facts('ledger', 'found', 'list', '--assigned') },
    usage: facts('usage', '--since', since.slice(0, 'yyyy-mm-dd'.length)),
    shown: facts('ledger', 'show', replayable.find(({ key }) => key === 'success-1')?.id ?? ''),
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
