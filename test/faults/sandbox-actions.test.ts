/** docs/sandbox.md: what the owner of a held swap of the sandbox can do, and each way in which that may end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { credential, type FormName } from '../support/pair.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-sandbox-actions-'))
const refundAddress = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'
const timeout = 120_000
let gateway: InProcessGateway
let key: string

beforeAll(async () => {
  const port = await freePort(26_000, 1_000)
  const file = join(directory, 'gateway.yaml')
  const provider = {
    key: 'sandbox-key-1',
    extraIds: true,
    sandbox: true,
    actions: true,
    rateLimit: { quotes: 0, create: 0, read: 0 },
    statuses: { held: 'held', failed: 'failed' },
  }
  const settings = {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, reconcileFor: 7 },
    assets: resolve('config/assets.yaml'),
    providers: {
      alpha: { ...provider, form: 'A', url: `http://127.0.0.1:${port}/a/api/v2`, account: 'sandbox' },
      beta: { ...provider, form: 'B', url: `http://127.0.0.1:${port}/b/api/v2`, account: 'sandbox' },
    },
    limits: { create: 10_000, read: 10_000 },
    routing: { providers: ['alpha', 'beta'], pick: ['alpha', 'beta'] },
    sandbox: { enabled: true, port, data: join(directory, 'sandbox.db'), speed: 0, limits: { create: 10_000, read: 10_000 } },
  }
  writeFileSync(file, JSON.stringify(settings))
  gateway = await InProcessGateway.start(file)
  key = await gateway.createKey('acme')
}, timeout)
afterAll(async () => {
  await gateway?.stop()
  rmSync(directory, { recursive: true, force: true })
})

interface Swap {
  readonly id: string
  readonly capabilities?: readonly string[]
}

/** At a provider of the form of its client. */
class Held {
  readonly id: string
  private readonly form: FormName

  private constructor(form: FormName, id: string) {
    this.form = form
    this.id = id
  }

  /** Paid. */
  static async create(form: FormName, amount: string, facts: object = {}): Promise<Held> {
    const pair =
      form === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
        : { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
    const order = { ...pair, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', ...facts }
    const body = JSON.stringify(order).replace('{', `{"amount":${amount},`)
    const created = await send(form, 'POST', '', body, { 'x-swap-provider': form === 'A' ? 'alpha' : 'beta' })
    expect(created.status, created.text).toBeLessThan(300)
    const held = new Held(form, (created.json as Swap).id)
    expect((await held.post('sandbox', { do: 'pay' })).json).toMatchObject({ attention: 'held' })
    return held
  }

  get(): Promise<ReceivedResponse> {
    return send(this.form, 'GET', `/${this.id}`)
  }

  post(action: string, body: object = {}): Promise<ReceivedResponse> {
    return send(this.form, 'POST', `/${this.id}/${action}`, JSON.stringify(body))
  }
}

function send(form: FormName, method: string, path: string, body?: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { ...credential(form, key), ...(body !== undefined && { 'content-type': 'application/json' }), ...more }
  const target = `/${form.toLowerCase()}/api/v2/transactions${path}`
  return sendRequest(gateway.url, { method, path: target, headers, ...(body !== undefined && { body }) })
}

function reasonOf({ headers }: ReceivedResponse): unknown {
  return headers['x-swap-reason']
}

describe.each(['A', 'B'] as const)('a held swap, in form %s', { timeout }, (form) => {
  it('is refunded to the address that the refund brings', async () => {
    const swap = await Held.create(form, '0.11735711')
    expect((await swap.get()).json).toMatchObject({ capabilities: ['refund', 'continue', 'refund-address'] })
    expect(reasonOf(await swap.post('refund'))).toBe('parameter_invalid')
    const refunded = await swap.post('refund', { address: refundAddress })
    expect([refunded.status, refunded.json]).toEqual([200, expect.objectContaining({ status: 'refunded' })])
    expect((await swap.post('refund', { address: refundAddress })).headers['idempotent-replayed']).toBe('true')
    expect(reasonOf(await swap.post('continue'))).toBe('conflict')
  })

  it('goes on', async () => {
    const swap = await Held.create(form, '0.12735711')
    expect((await swap.post('continue')).json).toMatchObject({ status: 'success' })
  })

  it('gets a refund address, once', async () => {
    const swap = await Held.create(form, '0.13735711')
    const response = await swap.post('refund-address', { address: refundAddress })
    expect(response.text).toContain(refundAddress)
    expect(((await swap.get()).json as Swap).capabilities).toEqual(['refund', 'continue'])
    expect((await swap.post('refund')).json).toMatchObject({ status: 'refunded' })
  })

  it('of …12 refuses each action, and another one is free', async () => {
    const swap = await Held.create(form, '0.14735712', { refundAddress })
    for (const action of ['refund', 'continue', 'refund']) expect(reasonOf(await swap.post(action))).toBe('refused')
    expect((await swap.get()).json).toMatchObject({ attention: 'held', capabilities: ['refund', 'continue'] })
  })

  it('of …13 is acted on without an answer, which the gateway finds out', async () => {
    const swap = await Held.create(form, '0.15735713', { refundAddress })
    expect(reasonOf(await swap.post('refund'))).toBe('outcome_unknown')
    const again = await vi.waitUntil(
      async () => {
        const response = await swap.post('refund')
        return response.status === 409 ? undefined : response
      },
      { timeout: 80_000, interval: 500 },
    )
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true'])
  })

  it('of …14 is not acted on, without an answer: a person finds out', async () => {
    const swap = await Held.create(form, '0.16735714', { refundAddress })
    expect(reasonOf(await swap.post('continue'))).toBe('outcome_unknown')
    expect(reasonOf(await swap.post('continue'))).toBe('in_progress')
    await vi.waitUntil(async () => reasonOf(await swap.post('continue')) === 'needs_person', { timeout: 80_000, interval: 500 })
    expect((await swap.get()).json).toMatchObject({ attention: 'held' })
  })
})

it('an ordinary swap has no such actions', async () => {
  const response = await send(
    'A',
    'POST',
    '',
    JSON.stringify({ coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }),
  )
  const { id } = response.json as Swap
  expect(reasonOf(await send('A', 'POST', `/${id}/continue`, '{}'))).toBe('not_offered')
})
