/** docs/contract.md §5: what an account uses, against another sum over `ledger export` and what its clients have received. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { writeConfiguration } from '../checker/configuration.ts'
import { openSite } from '../ledger/stores.ts'
import { Scrape } from '../observability/scrape.ts'
import { Swapgate } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { commandOver, runCommand } from '../support/command.ts'
import { startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { digits } from '../support/json.ts'

const postgres = await openSite('PostgreSQL')
afterAll(() => postgres.close())

const token = 'operator-token-of-alice-0123456789'
const ethAddress = '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C'

interface Usage {
  readonly since: string | null
  readonly accounts: readonly (Sums & { readonly account: string; readonly requests: Counts })[]
}

interface Sums {
  readonly swaps: Readonly<Record<string, number>>
  readonly amounts: Both
  readonly open: Both
}

interface Both {
  readonly in: Readonly<Record<string, string>>
  readonly out: Readonly<Record<string, string>>
}

type Counts = Readonly<Record<string, Readonly<Record<'ok' | 'limited' | 'refused' | 'failed', number>>>>

async function startRig(ledger: string, sections: Readonly<Record<string, unknown>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-usage-'))
  const alpha = await startFormA()
  const file = writeConfiguration(
    {
      ...{ directory, mode: 'managed', ledger },
      server: { trustProxy: 1 },
      admin: { tokens: { alice: token } },
      providers: { alpha: { form: 'A', url: alpha.url, key: 'provider-key-1', native: ['GET /coins'] } },
      sections: { ledger: { url: ledger, refreshAfter: 1 }, ...sections },
    },
    { server: 0, admin: 0 },
  )
  const gateways: InProcessGateway[] = []
  const start = async () => {
    const gateway = await InProcessGateway.start(file)
    gateways.push(gateway)
    return gateway
  }
  const stop = () => Promise.all(gateways.splice(0).map((gateway) => gateway[Symbol.asyncDispose]()))
  onTestFinished(async () => {
    await stop()
    await alpha.close()
    rmSync(directory, { recursive: true })
  })
  const command = (...args: readonly string[]): Promise<unknown> => commandOver(file, args)
  const issue = async (name: string, ...args: readonly string[]): Promise<string> =>
    ((await command('keys', 'create', '--name', name, ...args)) as { readonly key: string }).key
  const usage = async (...args: readonly string[]): Promise<Usage> => (await command('usage', ...args)) as Usage
  return { file, alpha, start, stop, command, issue, usage }
}

type Rig = Awaited<ReturnType<typeof startRig>>

/** A client that counts its responses as usage does. */
class CountingClient {
  readonly counts: Record<string, Record<'ok' | 'limited' | 'refused' | 'failed', number>> = {}
  readonly key: string

  constructor(key: string) {
    this.key = key
  }

  async send(url: string, operation: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${this.key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await sendRequest(url, {
      ...{ path, headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    const { status } = response
    this.counts[operation] ??= { ok: 0, limited: 0, refused: 0, failed: 0 }
    this.counts[operation][status === 429 ? 'limited' : status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'ok']++
    return response
  }

  create(url: string, amount: string) {
    const order = { coinFrom: 'BTC', coinTo: 'ETH', amount: '?', rateType: 'float', withdrawalAddress: ethAddress }
    return this.send(url, 'create_transaction', '/a/api/v2/transactions', { ...order, amount: Number(amount) })
  }

  get(url: string, id: string) {
    return this.send(url, 'get_transaction', `/a/api/v2/transactions/${encodeURIComponent(id)}`)
  }
}

const random = (below: number): number => Math.floor(Math.random() * below)
const statuses = ['wait', 'confirmation', 'exchanging', 'success', 'success', 'success', 'refunded', 'overdue']

/** With 40 decimals, by hand. */
function sum(texts: readonly string[]): string {
  const units = texts.map((text) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(40, '0'))
  })
  const total = String(units.reduce((one, other) => one + other, 0n)).padStart(41, '0')
  return `${total.slice(0, -40)}.${total.slice(-40)}`.replace(/\.?0+$/, '')
}

interface Exported {
  readonly owner: string
  readonly status: string
  readonly codeFrom: string
  readonly codeTo: string
  readonly amountIn: string
  readonly amountOut: string
  readonly quotedAmountOut?: string
}

/** By the lines of the export alone. */
function summed(rows: readonly Exported[]): Sums {
  const ended = ['success', 'refunded', 'overdue']
  const paid = rows.filter(({ status }) => status === 'success')
  const open = rows.filter(({ status }) => !ended.includes(status))
  const both = (of: readonly Exported[], out: (row: Exported) => string): Both => ({
    in: sums(
      Map.groupBy(of, ({ codeFrom }) => codeFrom),
      ({ amountIn }) => amountIn,
    ),
    out: sums(
      Map.groupBy(of, ({ codeTo }) => codeTo),
      out,
    ),
  })
  const swaps = Object.fromEntries([...Map.groupBy(rows, ({ status }) => status)].map(([status, of]) => [status, of.length]))
  return {
    swaps,
    amounts: both(paid, ({ amountOut }) => amountOut),
    open: both(open, ({ quotedAmountOut, amountOut }) => quotedAmountOut ?? amountOut),
  }
}

function sums(byCode: ReadonlyMap<string, readonly Exported[]>, text: (row: Exported) => string): Record<string, string> {
  return Object.fromEntries([...byCode].map(([code, rows]) => [code, sum(rows.map(text))]))
}

/** A random day of two accounts at these gateways. Returns the ids of their swaps, and what they have received. */
async function use({ alpha, issue }: Rig, urls: readonly string[], swaps: number) {
  const clients = { acme: new CountingClient(await issue('acme')), globex: new CountingClient(await issue('globex')) }
  const at = () => urls[random(urls.length)] ?? ''
  alpha.reply('other', { json: [] })
  alpha.reply('create', ({ body }) =>
    body.includes('0.07') ? { status: 400, json: { error: 'Bad Request', message: 'No', code: 400 } } : undefined,
  )
  const one = async () => {
    const client = random(2) === 0 ? clients.acme : clients.globex
    const created = await client.create(at(), random(8) === 0 ? '0.07' : `0.${1 + random(9)}${random(1e6)}1`)
    await client.send(at(), 'list_currencies', '/a/api/v2/currencies')
    if (created.status !== 201) return
    const { id } = created.json as { readonly id: string }
    const paid = digits(`${random(1e9)}.${random(1e9)}1`)
    const status = statuses[random(statuses.length)] ?? 'wait'
    alpha.holdings.swaps = alpha.holdings.swaps.map((swap) =>
      id === `alpha~${swap.id}` ? { ...swap, status, ...(status === 'success' && { amountOut: paid }) } : swap,
    )
    await client.get(at(), id)
    if (random(9) === 0) await client.get(at(), `${id}-none`)
    if (random(9) === 0) await client.send(at(), 'native', '/native/alpha/coins')
    if (random(9) === 0) await client.send(at(), 'get_rate', '/a/api/v2/rate?coinFrom=BTC&coinTo=NONE&amount=1')
    if (random(9) === 0) await client.send(at(), 'list_transactions', '/a/api/v2/transactions')
    if (random(9) === 0) await client.send(at(), 'refund_transaction', `/a/api/v2/transactions/${id}/refund`, {})
  }
  for (let n = 0; n < swaps; n += 10) await Promise.all(Array.from({ length: 10 }, one))
  return clients
}

describe.each(['SQLite', 'PostgreSQL'])('%s', (store) => {
  const ledgerUrl = async (): Promise<string> => {
    if (store === 'PostgreSQL') return await postgres.createLedger()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-usage-ledger-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    return `sqlite:${join(directory, 'ledger.db')}`
  }

  test('usage is the sum over the export, and requests are what clients received: over two replicas, restarts and a prune', {
    timeout: 120_000,
  }, async () => {
    const rig = await startRig(await ledgerUrl())
    const { command, usage, start, stop, file } = rig
    const [first, second] = [await start(), await start()]
    const clients = await use(rig, [first.url, second.url], 300)
    const anonymous = await sendRequest(first.url, { path: '/a/api/v2/currencies' })
    expect(anonymous.status).toBe(200)
    await stop()
    const rows = (await command('ledger', 'export')) as readonly Exported[]
    expect(rows.length).toBeGreaterThan(200)
    const owners = new Map(
      await Promise.all(
        Object.keys(clients).map(async (name) => {
          const [row] = (await command('ledger', 'find', name)) as readonly { readonly id: string }[]
          return [name, rows.find(({ id }: Exported & { readonly id?: string }) => id === row?.id)?.owner] as const
        }),
      ),
    )
    const expected = Object.entries(clients).map(([account, { counts }]) => {
      const own = rows.filter(({ owner }) => owner === owners.get(account))
      const refused = counts.create_transaction?.refused ?? 0
      return {
        account,
        creates: { done: own.length, refused, unknown: 0, mismatch: 0 },
        ...summed(own),
        requests: counts,
      }
    })
    expect(await usage()).toEqual({ since: null, accounts: expected })
    const hour = new Date(Math.floor((Date.now() - 7_200_000) / 3_600_000) * 3_600_000).toISOString()
    expect(await usage('--since', '2h')).toEqual({ since: hour, accounts: expected })
    expect((await usage('--since', '2h', '--account', 'globex')).accounts).toEqual([expected[1]])
    const third = await start()
    const pruned = await runCommand(['ledger', 'prune', '--before', '2100-01-01', '--config', file])
    expect(pruned.exitCode).toBe(0)
    expect(((await command('ledger', 'export')) as readonly unknown[]).length).toBeLessThan(rows.length * 0.8)
    expect((await usage()).accounts).toEqual(expected)
    const api = (path: string) =>
      sendRequest(third.adminUrl, { path, headers: { authorization: `Bearer ${token}` } }).then(({ status, text }) => [
        status,
        status === 200 ? JSON.parse(text) : undefined,
      ])
    expect(await api('/api/usage?since=2h&account=acme')).toEqual([200, { since: hour, accounts: [expected[0]] }])
    expect(await api('/api/usage?account=nobody')).toEqual([404, undefined])
    expect(await api('/api/usage?since=yesterday')).toEqual([400, undefined])
    expect(await api('/api/usage?until=2h')).toEqual([400, undefined])
    expect((await runCommand(['usage', '--account', 'nobody', '--config', file])).exitCode).toBe(1)
    expect((await runCommand(['usage', '--since', 'yesterday', '--config', file])).exitCode).toBe(2)
  })

  test('a process that is killed loses at most the last ten seconds of requests, one that is stopped none', {
    timeout: 60_000,
  }, async () => {
    const rig = await startRig(await ledgerUrl(), { limits: { quotes: 10_000, create: 5, read: 5 } })
    const { usage, file } = rig
    const client = new CountingClient(await rig.issue('acme'))
    const scoped = new CountingClient(await rig.issue('acme', '--scope', 'quote'))
    const spent = async () => (await usage()).accounts[0]?.requests
    await using killed = new Swapgate(['start', '--config', file])
    const url = (await killed.urls()).get('gateway') ?? ''
    for (let n = 0; n < 7; n++) await client.get(url, 'alpha~none')
    await scoped.get(url, 'alpha~none')
    for (let n = 0; n < 50; n++) await client.send(url, 'list_currencies', '/a/api/v2/currencies')
    const counts = { get_transaction: { ok: 0, limited: 3, refused: 5, failed: 0 }, list_currencies: count(50) }
    await expect.poll(spent, { interval: 200 }).toEqual(counts)
    for (let n = 0; n < 20; n++) await client.send(url, 'list_currencies', '/a/api/v2/currencies')
    killed.child.kill('SIGKILL')
    await killed.ended
    const left = (await spent())?.list_currencies?.ok ?? 0
    expect(left).toBeGreaterThanOrEqual(50)
    expect(left).toBeLessThanOrEqual(70)
    await using stopped = new Swapgate(['start', '--config', file])
    const next = (await stopped.urls()).get('gateway') ?? ''
    for (let n = 0; n < 20; n++) await client.send(next, 'list_currencies', '/a/api/v2/currencies')
    stopped.child.kill('SIGTERM')
    await stopped.ended
    expect(await spent()).toEqual({ ...counts, list_currencies: count(left + 20) })
  })
})

const count = (ok: number) => ({ ok, limited: 0, refused: 0, failed: 0 })

test('accounts of telemetry.accounts have a label of their own at requests and errors, and no others', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-usage-ledger-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const { start, issue } = await startRig(`sqlite:${join(directory, 'ledger.db')}`, { telemetry: { accounts: ['acme', 'nobody'] } })
  const gateway = await start()
  const { url } = gateway
  for (const name of ['acme', 'globex']) {
    const client = new CountingClient(await issue(name))
    await client.send(url, 'list_currencies', '/a/api/v2/currencies')
    await client.get(url, 'alpha~none')
  }
  const text = await gateway.metrics()
  const scrape = new Scrape(text)
  expect(scrape.by('swapgate_requests_total', 'account')).toEqual({ acme: 2, '': 2 })
  expect(scrape.by('swapgate_errors_total', 'account')).toEqual({ acme: 1, '': 1 })
  expect(scrape.sum('swapgate_errors_total', { operation: 'get_transaction', account: 'acme' })).toBe(1)
  expect(text.split('\n').filter((line) => line.includes('account=') && !/^swapgate_(?:requests|errors)_total/.test(line))).toEqual(
    [],
  )
})
