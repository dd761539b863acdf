/** docs/contract-operators.md §13: the configuration is read again on SIGHUP and when a file of it changes, and no request fails because of it. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { type ProviderA, rateA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

let directory: ConfigDirectory
let alpha: ProviderA
let beta: ProviderB
let gateway: InProcessGateway
let url: string
let file: string

const quote = '/a/api/v2/rate?coinFrom=ETH&coinTo=BTC&amount=1'

function settings(routed: string, more = ''): string {
  return `
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
ledger: { url: "sqlite::memory:" }
providers:
  alpha: { form: A, url: "${alpha.url}" }
  beta: { form: B, url: "${beta.url}" }
routing: { providers: [${routed}] }
${more}`
}

beforeEach(async () => {
  directory = new ConfigDirectory()
  alpha = await startFormA()
  beta = await startFormB()
  file = directory.write(settings('alpha', 'limits: { quotes: 100000 }'))
  gateway = await InProcessGateway.start(file)
  url = gateway.url
})
afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await Promise.all([alpha.close(), beta.close()])
  directory[Symbol.dispose]()
})

const currentProvider = async (): Promise<unknown> => (await sendRequest(url, { path: quote })).headers['x-swap-provider']
const untilLogged = (text: string): Promise<void> =>
  vi.waitFor(() => expect(gateway.output).toContain(text), { timeout: eventTimeoutMs, interval: 20 })

describe('on SIGHUP', () => {
  it('D9: quotes go to the new provider, and none of many requests fails', async () => {
    await using running = new Swapgate(['start', '--config', file])
    url = (await running.urls()).get('gateway') as string
    expect(await currentProvider()).toBe('alpha')
    let isOver = false
    const statuses = new Map<number, number>()
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status } = await sendRequest(url, { path: quote })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    for (const routed of ['beta', 'alpha', 'beta']) {
      writeFileSync(file, settings(routed, 'limits: { quotes: 100000 }'))
      running.child.kill('SIGHUP')
      await vi.waitFor(async () => expect(await currentProvider()).toBe(routed), { timeout: eventTimeoutMs, interval: 10 })
    }
    isOver = true
    await Promise.all(load)
    expect([...statuses.keys()]).toEqual([200])
  })

  it('a configuration with errors changes nothing, and every error is reported', async () => {
    writeFileSync(file, settings('gamma', 'limits: { quotes: none }'))
    gateway.reload()
    await untilLogged('reload rejected: still running the previous configuration')
    expect(gateway.output).toContain('routing.providers.0: is not in providers')
    expect(gateway.output).toContain('limits.quotes: must be an integer from 1')
    expect(await currentProvider()).toBe('alpha')
  })

  it('an unchanged provider keeps its list, also if it fails just then', async () => {
    const list = (): Promise<{ status: number }> => sendRequest(url, { path: '/a/api/v2/currencies' })
    expect((await list()).status).toBe(200)
    alpha.reply('currencies', { reset: true })
    writeFileSync(file, settings('alpha', 'limits: { quotes: 99999 }'))
    gateway.reload()
    await untilLogged('was read again')
    expect((await list()).status).toBe(200)
    expect(alpha.received('currencies')).toHaveLength(1)
  })

  it('a limit keeps its count', async () => {
    await currentProvider()
    writeFileSync(file, settings('alpha', 'limits: { quotes: 10 }'))
    gateway.reload()
    await untilLogged('was read again')
    const { headers } = await sendRequest(url, { path: quote })
    expect(headers.ratelimit).toMatch(/r=8;/)
  })

  it.each([
    ['lists without end', `${'- '.repeat(5_000)}x`],
    ['very many keys', Array.from({ length: 60_000 }, (_, at) => `k${at}: x`).join('\n')],
    ['very many tags', '!!binary '.repeat(5_000)],
    ['too many bytes', 'x'.repeat(2_000_000)],
  ])('a file with %s changes nothing, and the gateway goes on', async (_, text) => {
    writeFileSync(file, text)
    gateway.reload()
    await untilLogged('"event":"reload","result":"refused"')
    expect(await currentProvider()).toBe('alpha')
    writeFileSync(file, settings('beta'))
    await vi.waitFor(async () => expect(await currentProvider()).toBe('beta'), { timeout: eventTimeoutMs, interval: 50 })
  })

  it('errors of the admin port have the body of the default form that is in force', async () => {
    const bodyOf404 = async (): Promise<unknown> => JSON.parse((await sendRequest(gateway.adminUrl, { path: '/nothing' })).text)
    expect(await bodyOf404()).toEqual({ error: 'Not Found', message: expect.any(String), code: 404 })
    writeFileSync(file, settings('alpha', 'defaultForm: B'))
    gateway.reload()
    await untilLogged('was read again')
    expect(await bodyOf404()).toEqual({ code: 404, message: expect.any(String) })
  })

  it('a client waits for as long as the provider may take now', async () => {
    const withTimeout = (seconds: number): string =>
      settings('alpha')
        .replace('{ port: 0, shutdownDelay: 0 }', '{ port: 0, shutdownDelay: 0, socketTimeout: 0.3 }')
        .replace('{ form: A,', `{ form: A, timeout: ${seconds},`)
        .replace('{ form: B,', '{ form: B, timeout: 0.1,')
    await using short = await InProcessGateway.start(directory.write(withTimeout(0.1)))
    writeFileSync(short.file, withTimeout(9))
    short.reload()
    await vi.waitFor(() => expect(short.output).toContain('was read again'), { timeout: eventTimeoutMs, interval: 20 })
    alpha.reply('rate', ({ query }) => ({ delay: 1_000, json: rateA(query) }))
    expect((await sendRequest(short.url, { path: quote })).status).toBe(200)
  })

  it('a change that only a start reads is reported', async () => {
    writeFileSync(file, settings('alpha').replace('port: 0, shutdownDelay: 0 }', 'port: 0, shutdownDelay: 0, drain: 3 }'))
    gateway.reload()
    await untilLogged('warning: server: a change takes effect after a restart')
  })
})

describe('creates that are under way', () => {
  const order = JSON.stringify({
    coinFrom: 'ETH',
    coinTo: 'BTC',
    amount: 0.1,
    withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  })
  const headers = { authorization: 'Bearer canary-client-key-1', 'content-type': 'application/json' }
  const idempotent = (key: string) => ({ ...headers, 'idempotency-key': key })
  /** Alpha is configured otherwise from now on: its connections and its list are new ones. */
  const reconfigure = async (): Promise<void> => {
    writeFileSync(file, settings('alpha', 'limits: { quotes: 100000 }').replace('{ form: A,', '{ form: A, timeout: 9,'))
    gateway.reload()
    await untilLogged('was read again')
  }
  /** The head of a create and a part of its body; the function sends the rest. */
  const begin = (key: string) => {
    const { hostname, port } = new URL(url)
    const length = { 'content-length': String(order.length) }
    const sent = request({
      hostname,
      port,
      method: 'POST',
      path: '/a/api/v2/transactions',
      headers: { ...idempotent(key), ...length },
    })
    const status = new Promise((resolve, reject) => {
      sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
    })
    sent.write(order.slice(0, 20))
    return { status, finish: () => void sent.end(order.slice(20)) }
  }

  it('L51: one that waits for its body ends by what it began with', async () => {
    const { status, finish } = begin('body-1')
    // A response to a later one shows that the first has begun.
    expect((await sendRequest(url, { path: quote })).status).toBe(200)
    await reconfigure()
    await vi.waitFor(async () => expect(await currentProvider()).toBe('alpha'), eventTimeoutMs)
    finish()
    expect(await status).toBe(201)
    const again = await sendRequest(url, {
      method: 'POST',
      path: '/a/api/v2/transactions',
      headers: idempotent('body-1'),
      body: order,
    })
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true'])
    expect(alpha.received('create')).toHaveLength(1)
  })

  it('L51: one that waits for the list of currencies ends by what it began with', async () => {
    const usual = alpha.holdings.currencies
    const listed = Promise.withResolvers<void>()
    const json = { data: usual, pagination: { page: 1, size: 50, total: usual.length } }
    alpha.reply('currencies', { after: listed.promise, json })
    const creating = sendRequest(url, {
      method: 'POST',
      path: '/a/api/v2/transactions',
      headers: idempotent('list-1'),
      body: order,
    })
    await vi.waitFor(() => expect(alpha.received('currencies').length).toBeGreaterThan(0), eventTimeoutMs)
    await reconfigure()
    listed.resolve()
    expect((await creating).status).toBe(201)
    expect(alpha.received('create')).toHaveLength(1)
  })

  it('L51: many, over several reloads there and back, each end as they would have', async () => {
    const begun = Array.from({ length: 8 }, (_, n) => begin(`many-${n}`))
    expect((await sendRequest(url, { path: quote })).status).toBe(200)
    for (const timeout of [9, 8, 9, 8]) {
      writeFileSync(file, settings('alpha', 'limits: { quotes: 100000 }').replace('{ form: A,', `{ form: A, timeout: ${timeout},`))
      gateway.reload()
      expect(await currentProvider()).toBe('alpha')
    }
    await untilLogged('was read again')
    for (const { finish } of begun) finish()
    expect(await Promise.all(begun.map(({ status }) => status))).toEqual(begun.map(() => 201))
    expect(alpha.received('create')).toHaveLength(begun.length)
  })
})

describe('when a file changes', () => {
  it('the file itself, written anew or put in its place', async () => {
    writeFileSync(file, settings('beta', 'limits: { quotes: 100000 }'))
    await vi.waitFor(async () => expect(await currentProvider()).toBe('beta'), { timeout: eventTimeoutMs, interval: 50 })
    writeFileSync(join(directory.path, 'next.yaml'), settings('alpha', 'limits: { quotes: 100000 }'))
    renameSync(join(directory.path, 'next.yaml'), file)
    await vi.waitFor(async () => expect(await currentProvider()).toBe('alpha'), { timeout: eventTimeoutMs, interval: 50 })
  })

  it('the file itself, while it is read', async () => {
    const pipe = join(directory.path, 'key')
    const next = join(directory.path, 'next.yaml')
    execFileSync('mkfifo', [pipe])
    writeFileSync(next, settings('beta'))
    // Reading the key takes until the file that refers to it has been replaced.
    const writer = spawn('sh', ['-c', '{ printf key; mv next.yaml gateway.yaml; } > key'], { cwd: directory.path })
    onTestFinished(() => void writer.kill())
    writeFileSync(file, settings('alpha').replace('{ form: A,', `{ form: A, key: "\${file:key}",`))
    await once(writer, 'exit')
    await vi.waitFor(async () => expect(await currentProvider()).toBe('beta'), { timeout: eventTimeoutMs, interval: 50 })
  })

  it('the asset table beside it', async () => {
    const doge = '- { coin: DOGE, name: Dogecoin, networks: [ { network: DOGE, code: DOGE } ] }\n'
    writeFileSync(
      join(directory.path, 'assets.yaml'),
      `${doge}- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }`,
    )
    await untilLogged('was read again')
  })
})

it('a reload that is requested when the gateway stops is none', async () => {
  const stopping = gateway.stop()
  gateway.reload()
  await stopping
  expect(gateway.output).not.toContain('was read again')
})
