/** `POST …/transactions/{id}/sandbox`: what the owner of a swap of the built-in sandbox lets happen to it. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Swapgate } from '../process/swapgate.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { digits } from '../support/json.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-sandbox-events-'))
const words = { held: 'held', failed: 'failed' }
let sandboxPort: number
let other: Server
const askedFor: string[] = []
let gateway: InProcessGateway
let managed: InProcessGateway

function write(name: string, sections: object): string {
  const file = join(directory, `${name}.yaml`)
  const own = { key: 'sandbox-key-1', extraIds: true, sandbox: true, statuses: words, account: 'sandbox' }
  const settings = {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    ledger: { url: `sqlite:${join(directory, `${name}.db`)}` },
    assets: resolve('config/assets.yaml'),
    providers: {
      alpha: { ...own, form: 'A', url: `http://127.0.0.1:${sandboxPort}/a/api/v2` },
      beta: { ...own, form: 'B', url: `http://127.0.0.1:${sandboxPort}/b/api/v2` },
      gamma: { ...own, form: 'A', url: `http://127.0.0.1:${(other.address() as AddressInfo).port}/a/api/v2`, account: 'another' },
    },
    routing: { providers: ['alpha'] },
    limits: { create: 1_000 },
    sandbox: { enabled: true, port: sandboxPort, data: join(directory, `${name}-sandbox.db`), speed: 60 },
    ...sections,
  }
  writeFileSync(file, JSON.stringify(settings))
  return file
}

beforeAll(async () => {
  other = createServer(({ url = '' }, response) => {
    askedFor.push(url)
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  sandboxPort = await freePort(21_000, 2_000)
  gateway = await InProcessGateway.start(write('passthrough', {}))
  const port = await freePort(23_000, 1_000)
  const provider = { form: 'B', url: `http://127.0.0.1:${port}/b/api/v2`, key: 'sandbox-key-2', extraIds: true, sandbox: true }
  managed = await InProcessGateway.start(
    write('managed', {
      auth: { mode: 'managed' },
      providers: { beta: { ...provider, statuses: words } },
      routing: { providers: ['beta'] },
      sandbox: { enabled: true, port, data: join(directory, 'managed-sandbox.db'), speed: 60 },
    }),
  )
})
afterAll(async () => {
  await gateway?.stop()
  await managed?.stop()
  other?.close()
  rmSync(directory, { recursive: true, force: true })
})

type Swap = Readonly<Record<string, unknown>> & { readonly id: string }

const mounts = { A: '/a/api/v2', B: '/b/api/v2', exolix: '/exolix/api/v2' } as const
type Form = keyof typeof mounts

function header(form: Form, key: string): Readonly<Record<string, string>> {
  return form === 'B' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }
}

class Owner {
  private readonly url: string
  private readonly key: string
  private readonly form: Form

  constructor(url: string, key: string, form: Form) {
    this.url = url
    this.key = key
    this.form = form
  }

  private send(method: string, path: string, body?: object): Promise<ReceivedResponse> {
    const headers = { ...header(this.form, this.key), ...(body && { 'content-type': 'application/json' }) }
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return sendRequest(this.url, { method, path: `${mounts[this.form]}/transactions${path}`, headers, ...text })
  }

  async create(): Promise<Swap> {
    const pair =
      this.form === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
        : { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
    const withdrawalAddress = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
    const { status, json, text } = await this.send('POST', '', { ...pair, amount: 0.1, rateType: 'float', withdrawalAddress })
    expect(status, text).toBeLessThan(300)
    return json as Swap
  }

  get(id: string): Promise<ReceivedResponse> {
    return this.send('GET', `/${id}`)
  }

  drive(id: string, event: unknown): Promise<ReceivedResponse> {
    return this.send('POST', `/${id}/sandbox`, { do: event })
  }

  async swapAfter(id: string, event: string): Promise<Swap> {
    const { status, json, text } = await this.drive(id, event)
    expect(status, text).toBe(200)
    return json as Swap
  }
}

describe.each(['A', 'B', 'exolix'] as const)('a swap of the sandbox, in form %s', (form) => {
  it('is paid, held, and sent back, and each response is the swap after it', async () => {
    const owner = new Owner(gateway.url, 'sandbox-key-1', form)
    const { id } = await owner.create()
    expect(await owner.swapAfter(id, 'pay')).toMatchObject({ id, status: 'confirmation' })
    const held = await owner.drive(id, 'hold')
    expect([held.status, held.headers['x-swap-sandbox']]).toEqual([200, 'true'])
    if (form !== 'exolix') expect(held.json).toMatchObject({ attention: 'held' })
    const back = await owner.swapAfter(id, 'refund')
    expect(back).toMatchObject({ id, status: 'refunded' })
    if (form === 'A')
      expect(back).toMatchObject({ refundHash: expect.stringMatching(/^[0-9a-f]{64}$/), refundAmount: digits('0.1') })
    expect((await owner.get(id)).json).toMatchObject({ status: 'refunded' })
  })
})

describe.each([
  [
    "the provider's own keys",
    () => new Owner(gateway.url, 'sandbox-key-1', 'A'),
    () => new Owner(gateway.url, 'sandbox-key-2', 'A'),
  ],
  [
    'issued keys',
    async () => new Owner(managed.url, await managed.createKey('acme'), 'A'),
    async () => new Owner(managed.url, await managed.createKey('globex'), 'A'),
  ],
] as const)('with %s', (_, makeOwner, makeStranger) => {
  it('a swap that fails has no deposit address, and can be sent back once it is paid', async () => {
    const owner = await makeOwner()
    const { id, depositAddress } = await owner.create()
    const failed = await owner.swapAfter(id, 'fail')
    expect([failed.attention, failed.depositAddress === depositAddress]).toEqual(['failed', false])
    expect((await owner.drive(id, 'refund')).headers['x-swap-reason']).toBe('conflict')
    await owner.swapAfter(id, 'pay')
    expect(await owner.swapAfter(id, 'refund')).toMatchObject({ status: 'refunded' })
  })

  it('what a swap is not in a state for is 409 conflict', async () => {
    const owner = await makeOwner()
    const { id } = await owner.create()
    const reasons = []
    for (const event of ['refund', 'pay', 'pay', 'refund', 'hold'])
      reasons.push((await owner.drive(id, event)).headers['x-swap-reason'])
    expect(reasons).toEqual(['conflict', undefined, 'conflict', undefined, 'conflict'])
  })

  it("another's swap, and one that nobody has, are 404 as in a get, and nothing happens", async () => {
    const [owner, stranger] = [await makeOwner(), await makeStranger()]
    const { id } = await owner.create()
    for (const unknown of [id, `${id}0`, 'alpha~nothing', 'nowhere~1', 'nothing']) {
      const [got, driven] = [await stranger.get(unknown), await stranger.drive(unknown, 'pay')]
      expect([driven.status, driven.text], unknown).toEqual([404, got.text])
    }
    expect((await owner.get(id)).json).toMatchObject({ status: 'wait' })
  })

  it('it counts as a create, and takes only its own words', async () => {
    const owner = await makeOwner()
    const { id } = await owner.create()
    expect((await owner.drive(id, 'pay')).headers['ratelimit-policy']).toContain('create')
    for (const event of ['success', '', 1, undefined])
      expect((await owner.drive(id, event)).headers['x-swap-reason']).toBe('parameter_invalid')
  })
})

it('needs a key', async () => {
  const response = await fetch(`${gateway.url}/a/api/v2/transactions/alpha~1/sandbox`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"do":"pay"}',
  })
  expect([response.status, response.headers.get('x-swap-reason')]).toEqual([401, 'key_missing'])
})

it('a swap at another provider that says `sandbox: true` is 404, and that provider is not asked', async () => {
  const port = await freePort(25_000, 1_000)
  const sandbox = { enabled: true, port, data: join(directory, 'another-sandbox.db') }
  await using before = await InProcessGateway.start(write('another', { sandbox, routing: { providers: ['gamma'] } }))
  const owner = new Owner(before.url, 'sandbox-key-1', 'A')
  const id = 'gamma~3655274d-6d65-4f5f-b0d0-efe233ce16be'
  for (const event of ['pay', 'hold', 'fail', 'refund']) {
    const response = await owner.drive(id, event)
    expect([response.status, response.headers['x-swap-reason']]).toEqual([404, 'not_found'])
  }
  const asked = (): readonly string[] => askedFor.filter((url) => url.includes('/transactions/'))
  expect(asked()).toEqual([])
  await owner.get(id)
  expect(asked()).toHaveLength(1)
})

it('a gateway that does not run the sandbox has no such path, also in front of the same provider', async () => {
  const { id } = await new Owner(gateway.url, 'sandbox-key-1', 'A').create()
  await using without = await InProcessGateway.start(write('without', { sandbox: { enabled: false } }))
  const owner = new Owner(without.url, 'sandbox-key-1', 'A')
  expect((await owner.get(id)).status).toBe(200)
  const response = await owner.drive(id, 'pay')
  expect([response.status, response.headers['x-swap-reason']]).toEqual([404, 'path'])
  const described = async ({ url }: InProcessGateway): Promise<boolean> =>
    '/transactions/{id}/sandbox' in ((await (await fetch(`${url}/a/openapi.json`)).json()) as { readonly paths: object }).paths
  expect([await described(gateway), await described(without)]).toEqual([true, false])
})

it('workers drive the sandbox of the process that started them', async () => {
  const port = await freePort(24_000, 1_000)
  const file = write('workers', {
    server: { port: 0, workers: 2, shutdownDelay: 0 },
    providers: { alpha: { form: 'A', url: `http://127.0.0.1:${port}/a/api/v2`, extraIds: true, sandbox: true } },
    sandbox: { enabled: true, port, data: join(directory, 'workers-sandbox.db'), speed: 60 },
  })
  await using process = new Swapgate(['start', '--config', file])
  const url = (await process.urls()).get('gateway') ?? ''
  const owner = new Owner(url, 'sandbox-key-1', 'A')
  const { id } = await owner.create()
  expect(await owner.swapAfter(id, 'pay')).toMatchObject({ status: 'confirmation' })
  expect((await owner.drive('alpha~nothing', 'pay')).status).toBe(404)
})
