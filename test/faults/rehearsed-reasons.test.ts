// Takes long: a provider is awaited until its timeout, and a lost create until the end of its search.
/** docs/sandbox.md: every reason of docs/errors.md, through the public URL with a key of the sandbox, in both forms. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Reason, reasons } from '../../src/domain/fault.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { credential, type FormName, formNames } from '../support/pair.ts'

/** What stands in the tables of a page, or of what follows a heading: the words in the first column. */
function firstColumn(page: string, heading = ''): readonly string[] {
  const text = readFileSync(page, 'utf8')
  return [...text.slice(text.indexOf(heading)).matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, word = '']) => word)
}

test('docs/errors.md and docs/sandbox.md have every reason once', () => {
  expect(firstColumn('docs/errors.md').toSorted()).toEqual(reasons.toSorted())
  expect(firstColumn('docs/sandbox.md', '## Every reason').toSorted()).toEqual(reasons.toSorted())
})

const directory = mkdtempSync(join(tmpdir(), 'swapgate-rehearsals-'))
let gateway: InProcessGateway
beforeAll(async () => {
  const port = await freePort(21_000, 2_000)
  const file = join(directory, 'gateway.yaml')
  const provider = { form: 'A', url: `http://127.0.0.1:${port}/a/api/v2`, extraIds: true, sandbox: true, timeout: 4 }
  const settings = {
    server: { port: 0, shutdownDelay: 0, trustProxy: 1 },
    admin: { port: 0 },
    ledger: { url: `sqlite:${join(directory, 'ledger.db')}`, reconcileFor: 7 },
    assets: resolve('config/assets.yaml'),
    providers: { alpha: provider },
    routing: { providers: ['alpha'] },
    sandbox: { enabled: true, port, data: join(directory, 'sandbox.db') },
  }
  writeFileSync(file, JSON.stringify(settings))
  gateway = await InProcessGateway.start(file)
})
afterAll(async () => {
  await gateway.stop()
  rmSync(directory, { recursive: true, force: true })
})

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One for each form, so that both have the limits of a key. */
const keys = { A: 'sandbox-key-1', B: 'sandbox-key-2' } as const

let clients = 0

/** A client of a form at an address of its own. */
class RehearsingClient {
  readonly form: FormName
  private readonly address = `203.0.113.${++clients}`

  constructor(form: FormName) {
    this.form = form
  }

  send({ method = 'GET', path = '', key = keys[this.form], headers = {}, body }: Sent): Promise<ReceivedResponse> {
    const own = { 'x-forwarded-for': this.address, ...(key !== null && credential(this.form, key)) }
    return sendRequest(gateway.url, {
      method,
      path: path.startsWith('/native/') ? path : `/${this.form.toLowerCase()}/api/v2${path}`,
      headers: { ...own, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    })
  }

  quote(amount: string, coinTo = 'USDT'): Promise<ReceivedResponse> {
    const to = coinTo === 'USDT' && this.form === 'A' ? 'USDTTRC20' : coinTo
    return this.send({ path: `/rate?coinFrom=BTC&coinTo=${to}&amount=${amount}` })
  }

  create(amount: string, facts: object = {}, idempotencyKey?: string): Promise<ReceivedResponse> {
    const pair =
      this.form === 'A'
        ? { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
        : { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRX' }
    const order = { ...pair, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', ...facts }
    const body = JSON.stringify(order).replace('{', `{"amount":${amount},`)
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return this.send({ method: 'POST', path: '/transactions', body, headers })
  }
}

type Produce = (client: RehearsingClient) => Promise<ReceivedResponse>

/** Resolves with the first response of this reason. */
async function repeatedly(reason: Reason, most: number, send: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  for (let sent = 1; ; sent++) {
    const response = await send()
    if (response.headers['x-swap-reason'] === reason || sent === most) return response
  }
}

/** The response to a create whose body never ends. */
async function halfRequest({ form }: RehearsingClient): Promise<ReceivedResponse> {
  const { port, hostname } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const head = { host: hostname, ...credential(form, keys[form]), 'content-type': 'application/json', 'content-length': '100' }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
  socket.write([`POST /${form.toLowerCase()}/api/v2/transactions HTTP/1.1`, ...lines, '', '{'].join('\r\n'))
  await new Promise((closed) => socket.once('close', closed))
  const headers = Object.fromEntries(
    [...text.matchAll(/^([\w-]+): (.*)\r$/gm)].map(([, name = '', value]) => [name.toLowerCase(), value]),
  )
  return { status: Number(text.split(' ')[1]), reason: '', headers, text, json: undefined }
}

const codeNamesNetwork = 'a code of Form A names its network'

/** How a client gets each reason, or why none can. */
const rehearsals: Readonly<Record<Reason, Produce | { readonly A: string; readonly B: Produce } | string>> = {
  path: (client) => client.send({ path: '/nothing' }),
  method: (client) => client.send({ method: 'DELETE', path: '/transactions' }),
  form_conflict: (client) => client.send({ path: '/currencies', headers: { 'x-swap-form': 'Z' } }),
  parameter_invalid: (client) => client.send({ path: '/currencies?size=0' }),
  parameter_unknown: (client) => client.send({ path: '/currencies?colour=red' }),
  body_invalid: (client) => client.send({ method: 'POST', path: '/transactions', body: '{' }),
  unknown_asset: (client) => client.quote('0.1', 'NOBODY'),
  network_required: { A: codeNamesNetwork, B: (client) => client.create('0.1', { networkTo: undefined }) },
  network_unknown: { A: codeNamesNetwork, B: (client) => client.create('0.1', { networkTo: 'BTC' }) },
  not_offered: (client) => client.create('0.1', { coinTo: 'XNO', ...(client.form === 'B' && { networkTo: 'XNO' }) }),
  address_invalid: (client) => client.create('0.1', { withdrawalAddress: 'nowhere' }),
  memo_invalid: (client) =>
    client.create('0.1', {
      ...{ coinTo: 'XRP', ...(client.form === 'B' && { networkTo: 'XRP' }) },
      ...{ withdrawalAddress: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59', withdrawalExtraId: 'of Alice' },
    }),
  below_minimum: (client) => client.quote('0.00001'),
  above_maximum: (client) => client.quote('10'),
  refused: (client) => client.quote('0.10735701'),
  idempotency_key_missing: 'only the operator can require a key',
  key_missing: (client) => client.send({ path: '/transactions', key: null }),
  key_invalid: (client) => client.send({ path: '/transactions', key: 'another' }),
  key_scope: 'the keys of the sandbox may do everything',
  role: 'only operators get it',
  not_found: (client) => client.send({ path: '/transactions/alpha~nothing' }),
  not_open: (client) => client.send({ path: '/native/alpha/nothing' }),
  async in_progress(client) {
    const key = crypto.randomUUID()
    const first = client.create('0.10735706', {}, key)
    const [second] = await Promise.all([vi.waitUntil(() => sameWhileRunning(client, key), { timeout: eventTimeoutMs }), first])
    expect((await first).status).toBe(client.form === 'A' ? 201 : 200)
    return second
  },
  async outcome_unknown(client) {
    const key = crypto.randomUUID()
    const response = await client.create('0.10735704', {}, key)
    const found = await vi.waitUntil(() => successOf(client, '0.10735704', key), { timeout: 20_000, interval: 500 })
    expect(found.headers['x-swap-sandbox']).toBe('true')
    return response
  },
  quote_expired: (client) => client.create('0.1', { rateType: 'fixed', quoteId: 'none' }),
  async needs_person(client) {
    const key = crypto.randomUUID()
    expect((await client.create('0.10735708', {}, key)).headers['x-swap-reason']).toBe('outcome_unknown')
    const isSettled = async (): Promise<ReceivedResponse | undefined> => {
      const response = await client.create('0.10735708', {}, key)
      return response.headers['x-swap-reason'] === 'needs_person' ? response : undefined
    }
    return await vi.waitUntil(isSettled, { timeout: 40_000, interval: 500 })
  },
  async conflict(client) {
    const { id } = (await client.create('0.1')).json as { readonly id: string }
    const pay = () => client.send({ method: 'POST', path: `/transactions/${id}/sandbox`, body: '{"do":"pay"}' })
    await pay()
    return await pay()
  },
  async key_reused(client) {
    const key = crypto.randomUUID()
    await client.create('0.1', {}, key)
    return client.create('0.2', {}, key)
  },
  limited: (client) => repeatedly('limited', 70, () => client.send({ path: '/currencies', key: null })),
  unverified_limited: (client) =>
    repeatedly('unverified_limited', 25, () => client.send({ path: '/transactions', key: crypto.randomUUID() })),
  too_large: (client) => client.create('0.1', { refundAddress: 'x'.repeat(20_000) }),
  media_type: (client) =>
    client.send({ method: 'POST', path: '/transactions', body: '{}', headers: { 'content-type': 'text/plain' } }),
  too_slow: halfRequest,
  provider_failed: (client) => client.quote('0.10735702'),
  provider_busy: (client) => repeatedly('provider_busy', 9, () => client.quote('0.10735702')),
  mismatch: (client) => client.create('0.10735707'),
  async timeout(client) {
    await client.quote(client.form === 'A' ? '0.11' : '0.12') // no fifth failure in a row
    return client.quote('0.10735703')
  },
  overloaded: 'it depends on the load of the process',
  ledger_unavailable: 'only the operator can take the ledger away',
  ledger_restored: 'only the operator can restore a backup',
  stopping: 'only the operator can stop the process',
  internal: 'it would be a fault of the gateway',
}

async function sameWhileRunning(client: RehearsingClient, key: string): Promise<ReceivedResponse | undefined> {
  const response = await client.create('0.10735706', {}, key)
  return response.status === 409 ? response : undefined
}

async function successOf(client: RehearsingClient, amount: string, key: string): Promise<ReceivedResponse | undefined> {
  const response = await client.create(amount, {}, key)
  return response.status < 300 ? response : undefined
}

/** After it no quote goes to the provider for 30 seconds. */
const last: Reason = 'provider_busy'

function producible(form: FormName): readonly (readonly [string, Produce])[] {
  return Object.entries(rehearsals).flatMap(([reason, how]): readonly (readonly [string, Produce])[] => {
    if (typeof how === 'string') return []
    if (typeof how === 'function') return [[reason, how]]
    return form === 'A' ? [] : [[reason, how.B]]
  })
}

/** What takes long begins before all others. */
const slow: ReadonlySet<string> = new Set<Reason>(['too_slow', 'needs_person'])
const begun = new Map<string, Promise<ReceivedResponse>>()
beforeAll(() => {
  for (const form of formNames) {
    for (const [reason, produce] of producible(form)) {
      if (!slow.has(reason)) continue
      const response = produce(new RehearsingClient(form))
      response.catch(() => {}) // its test rejects
      begun.set(`${form} ${reason}`, response)
    }
  }
})

async function expectReason(reason: string, produce: Produce, form: FormName): Promise<void> {
  const response = await (begun.get(`${form} ${reason}`) ?? produce(new RehearsingClient(form)))
  expect(response.headers['x-swap-reason'], response.text).toBe(reason)
  expect(response.headers['x-swap-form']).toBe(form)
}

describe.each(formNames)('form %s', (form) => {
  const produced = producible(form).filter(([reason]) => reason !== last)
  test.each(produced)('%s', { timeout: 60_000 }, (reason, produce) => expectReason(reason, produce, form))

  test('an ordinary swap beside them', async () => {
    const client = new RehearsingClient(form)
    const created = await client.create('0.10735799')
    expect(created.status, created.text).toBe(form === 'A' ? 201 : 200)
    const { id } = created.json as { readonly id: string }
    expect((await client.send({ path: `/transactions/${id}` })).status).toBe(200)
  })

  test('each get of a swap of …09 fails', async () => {
    const client = new RehearsingClient(form)
    const { json } = await client.create('0.10735709')
    const response = await client.send({ path: `/transactions/${(json as { readonly id: string }).id}` })
    expect(response.headers['x-swap-reason'], response.text).toBe('provider_failed')
  })
})

test.each(formNames)('form %s: provider_busy', async (form) => {
  for (const [reason, produce] of producible(form)) if (reason === last) await expectReason(reason, produce, form)
})
