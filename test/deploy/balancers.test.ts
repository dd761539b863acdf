/** docs/deployment.md: two real gateways behind each balancer of `deploy/`. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { freePort } from '../support/free-port.ts'
import { type Balancer, type BalancerName, balancerNames, startBalancer } from './balancers.ts'

const kills = Number(process.env.SWAPGATE_RUNS ?? 4)
const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', amount: 1, rateType: 'float' }

const agents = [false, true].map((allowH2) => new Agent({ allowH2, connect: { rejectUnauthorized: false } })) as [Agent, Agent]
afterAll(() => Promise.all(agents.map((agent) => agent.destroy())))

interface SendOptions {
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Site extends AsyncDisposable {
  readonly balancer: Balancer
  readonly gateways: readonly GatewayProcess[]
  readonly provider: Provider
  readonly key: string
}

async function startSite(name: BalancerName): Promise<Site> {
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-balanced-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const provider = open.use(
    await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'journal') }),
  )
  const [server, admin] = [await freePort(12_000, 4_000), await freePort(16_000, 4_000)]
  const gateways = []
  for (const host of ['127.0.0.1', '127.0.0.2'])
    gateways.push(
      open.use(
        await GatewayProcess.start({
          directory,
          mode: 'managed',
          place: { host, server, admin },
          server: { trustProxy: 1, shutdownDelay: 2 },
          providers: { alpha: { form: 'A', url: provider.url, key: 'own-key' } },
        }),
      ),
    )
  const key = (await gateways[0]?.createKey('acme')) ?? ''
  const balancer = open.use(await startBalancer(name, gateways))
  const ending = open.move()
  return { balancer, gateways, provider, key, [Symbol.asyncDispose]: () => ending.disposeAsync() }
}

describe.each(balancerNames)('behind %s', (name) => {
  let site: Site
  beforeAll(async () => {
    site = await startSite(name)
    await vi.waitUntil(async () => (await send('/a/api/v2/currencies?size=1')).status === 200, { timeout: eventTimeoutMs })
  }, 180_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  async function send(path: string, options: SendOptions = {}) {
    const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json', ...options.headers }
    const { statusCode, body } = await request(site.balancer.url + path, { dispatcher: agents[0], ...options, headers })
    return { status: statusCode, text: await body.text() }
  }
  const create = (withdrawalAddress: string, headers = {}) =>
    send('/a/api/v2/transactions', { method: 'POST', headers, body: JSON.stringify({ ...order, withdrawalAddress }) })

  test('a client cannot say what its address is, for a read or a create', async () => {
    const forged = { 'x-forwarded-for': '198.51.100.7' }
    expect(await send('/a/api/v2/currencies?size=1', { headers: forged })).toMatchObject({ status: 200 })
    expect(await create('0xforged', forged)).toMatchObject({ status: 201 })
    const logged = () => site.gateways.map(({ output }) => output).join('')
    await expect.poll(() => logged().match(/"address":"127\.0\.0\.1"/g)?.length ?? 0).toBeGreaterThanOrEqual(2)
    expect(logged()).not.toContain('198.51.100.7')
  })

  test('a quiet stream stays open, and its changes come at once', { timeout: 60_000 }, async () => {
    await Promise.all(
      agents.map(async (agent, at) => {
        const headers = { authorization: `Bearer ${site.key}` }
        const { body } = await request(`${site.balancer.url}/a/api/v2/events`, { dispatcher: agent, headers })
        let text = ''
        body.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        // One at once, and one after 15 s.
        await expect.poll(() => text.split(': still here').length, { timeout: 40_000, interval: 100 }).toBe(3)
        await delay(1_000)
        await create(`0xstream${at}`)
        await expect.poll(() => text, { timeout: 10_000 }).toContain(`0xstream${at}`)
        body.on('error', () => {}).destroy()
      }),
    )
  })

  test('a client that comes back has its streams again at once', { timeout: 60_000 }, async () => {
    const key = (await site.gateways[0]?.createKey('streaming')) ?? ''
    const open = async () => {
      const agent = new Agent({ connect: { rejectUnauthorized: false } })
      const headers = { authorization: `Bearer ${key}` }
      const path = `${site.balancer.url}/api/v2/events`
      const opened = Array.from({ length: 15 }, () => request(path, { dispatcher: agent, headers }))
      const statuses = (await Promise.all(opened)).map(({ statusCode, body }) => {
        body.on('error', () => {})
        return statusCode
      })
      await agent.destroy()
      return [...new Set(statuses)]
    }
    // Four times at each gateway what an account has.
    for (let times = 0; times < 10; times++) await expect.poll(open, { timeout: 5_000 }).toEqual([200])
  })

  test('a create whose client hangs up is made all the same', async () => {
    await site.provider.fault({ operation: 'create', delay: 600 })
    const leaving = AbortSignal.timeout(300)
    const body = JSON.stringify({ ...order, withdrawalAddress: '0xleft' })
    const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' }
    const options = { dispatcher: agents[0], method: 'POST', headers, body, signal: leaving } as const
    await expect(request(`${site.balancer.url}/a/api/v2/transactions`, options)).rejects.toThrow()
    await expect.poll(async () => (await send('/a/api/v2/transactions')).text, { timeout: 10_000 }).toContain('0xleft')
  })

  test('a rolling restart fails no read and no create', { timeout: 120_000 }, async () => {
    const seen = new Map<number, number>()
    let isOver = false
    const load = [1, 2, 3].map(async (client) => {
      for (let at = 0; !isOver; at++) {
        const { status } = at % 5 === 0 ? await create(`0xroll${client}x${at}`) : await send('/a/api/v2/currencies?size=1')
        seen.set(status, (seen.get(status) ?? 0) + 1)
        await delay(20)
      }
    })
    for (const gateway of site.gateways) {
      await gateway.stop()
      await gateway.start()
      await delay(1_500)
    }
    isOver = true
    await Promise.all(load)
    expect([...seen.keys()].toSorted()).toEqual([200, 201])
  })

  test('a create whose gateway is killed at any instant is made once, and shown only if it was made', {
    timeout: 60_000 + kills * 5_000,
  }, async () => {
    const journal = () => readJournal(site.provider.settings.journal).filter((line) => line.what === 'applied')
    for (let round = 0; round < kills; round++) {
      const withdrawalAddress = `0xkilled${round}`
      await site.provider.fault({ operation: 'create', delay: 300 })
      const made = createWithCurl(site, withdrawalAddress, round % 2 === 0 ? '--http2' : '--http1.1')
      await delay(Math.random() * 500)
      await Promise.all(site.gateways.map((gateway) => gateway.kill()))
      const { status, text } = await made
      await Promise.all(site.gateways.map((gateway) => gateway.start()))
      const count = journal().filter(({ swap }) => swap.withdrawalAddress === withdrawalAddress).length
      expect(count, text).toBeLessThanOrEqual(1)
      if (status === 201) expect(count).toBe(1)
      else expect([0, 502, 503]).toContain(status)
      await site.provider.heal()
      await expect.poll(async () => (await send('/a/api/v2/currencies?size=1')).status, { timeout: 20_000 }).toBe(200)
    }
  })
})

/** Its connection has carried a read before. */
async function createWithCurl({ balancer, key }: Site, withdrawalAddress: string, version: string) {
  const common = ['--silent', '--insecure', version, '--max-time', '20']
  const headers = ['--header', `Authorization: Bearer ${key}`, '--header', 'Content-Type: application/json']
  const body = JSON.stringify({ ...order, withdrawalAddress })
  const url = `${balancer.url}/a/api/v2`
  const args = [
    ...common,
    '--output',
    '/dev/null',
    `${url}/currencies?size=1`,
    '--next',
    ...common,
    '--write-out',
    '\n%{http_code}',
    ...headers,
    '--data',
    body,
    `${url}/transactions`,
  ]
  const stdout = await new Promise<string>((resolve) => execFile('curl', args, (_, text) => resolve(text)))
  const [text = '', status = '0'] = stdout.split('\n')
  return { status: Number(status), text }
}
