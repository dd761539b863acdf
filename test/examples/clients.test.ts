// Takes long: it waits as clients do.
/** The example clients, against a gateway and against services of the reference documents: without reasons and without Idempotency-Key. */
import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ClientA } from '../../examples/typescript/client-a.ts'
import { ClientB } from '../../examples/typescript/client-b.ts'
import { parseExact, printExact } from '../../examples/typescript/exact-json.ts'
import { type ClientOptions, OutcomeUnknown, SwapError } from '../../examples/typescript/swap-http.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { freePort } from '../support/free-port.ts'
import { type DefaultGateway, startDefaultGateway } from './standard.ts'

let gateway: DefaultGateway
let alpha: ProviderA
let beta: ProviderB

beforeAll(async () => {
  ;[gateway, alpha, beta] = await Promise.all([startDefaultGateway(), startFormA(), startFormB()])
})
beforeEach(() => {
  alpha.reset()
  beta.reset()
})
afterAll(() => Promise.all([gateway?.[Symbol.asyncDispose](), alpha.close(), beta.close()]))

const withdrawalAddress = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'

/** One client of each form, in words that both tests can use. */
const clients = {
  A(options: ClientOptions) {
    const client = new ClientA(options)
    const pair = { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
    return {
      client,
      rate: async (amount: string) => (await client.rate({ ...pair, amount })).amountTo,
      create: (amount: string, key: string) => client.create({ ...pair, amount, withdrawalAddress }, key),
      unknownCoin: () => client.rate({ ...pair, coinTo: 'NOBODY', amount: '1' }),
      amountOf: async (id: string) => (await client.swap(id)).amount,
    }
  },
  B(options: ClientOptions) {
    const client = new ClientB(options)
    const pair = { coinFrom: 'BTC', coinTo: 'USDT', networkFrom: 'BTC', networkTo: 'TRX' }
    return {
      client,
      rate: async (amount: string) => (await client.rate({ ...pair, amount })).toAmount,
      create: (amount: string, key: string) => client.create({ ...pair, amount, withdrawalAddress }, key),
      unknownCoin: () => client.rate({ ...pair, coinTo: 'NOBODY', networkTo: 'NOBODY', amount: '1' }),
      amountOf: async (id: string) => (await client.swap(id)).amount_in,
    }
  },
}

const formNames = ['A', 'B'] as const
const service = (form: 'A' | 'B'): ProviderA | ProviderB => (form === 'A' ? alpha : beta)
const serviceUrl = (form: 'A' | 'B'): string => service(form).url.replace(/\/api\/v2$/, '')
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe.each(formNames)('the client of form %s at a gateway', (form) => {
  const connect = (more: Partial<ClientOptions> = {}) =>
    clients[form]({ baseUrl: `${gateway.gateway}/${form.toLowerCase()}`, key: 'sandbox-key-1', ...more })

  it('quotes, creates, gets and lists, with amounts as they were sent', async () => {
    const { client, rate, create, amountOf } = connect()
    expect(await rate('0.1000000000000000001')).toMatch(/^\d+\.\d+$/)
    const { id, status } = await create('0.100', `exact-${form}`)
    expect(status).toBe('wait')
    expect(await amountOf(id)).toBe('0.100')
    expect((await client.swaps({ size: 5 })).data.map((swap) => swap.id)).toContain(id)
  })

  it('reports the reason', async () => {
    const error = await failure(connect().unknownCoin())
    expect(error).toBeInstanceOf(SwapError)
    expect(error).toMatchObject({ status: 400, reason: 'unknown_asset', requestId: expect.any(String) })
  })

  it('makes one swap if the connection breaks before the first response', async () => {
    await using breaking = await startBreaking(gateway.gateway)
    const { create, client } = connect({ baseUrl: `${breaking.url}/${form.toLowerCase()}`, key: 'sandbox-key-2' })
    const before = await connect({ key: 'sandbox-key-2' }).client.swaps()
    const { id } = await create('0.3', `broken-${form}`)
    expect(breaking.creates).toEqual([`broken-${form}`, `broken-${form}`])
    const after = await client.swaps()
    expect(after.data.filter((swap) => !before.data.some((earlier) => earlier.id === swap.id)).map((swap) => swap.id)).toEqual([id])
  })
})

describe.each(formNames)('the client of form %s at a service without reasons', (form) => {
  const connect = (more: Partial<ClientOptions> = {}) =>
    clients[form]({ baseUrl: serviceUrl(form), key: 'provider-key-1', tries: 3, ...more })

  it('quotes, creates, gets and lists, with amounts as they were sent', async () => {
    const { client, rate, create, amountOf } = connect()
    expect(await rate('0.10')).toBe('0.123456789012345678')
    const { id } = await create('0.10000000000000000001', 'exact')
    expect(service(form).received('create')[0]?.body).toContain('"amount":0.10000000000000000001')
    expect(await amountOf(id)).toBe('0.10000000000000000001')
    expect((await client.swaps()).data.map((swap) => swap.id)).toContain(id)
  })

  it('has the status and the message of an error', async () => {
    service(form).reply('rate', { status: 400, json: { error: 'Bad Request', message: 'Invalid coinTo', code: 400 } })
    const error = await failure(connect().unknownCoin())
    expect(error).toMatchObject({ name: 'SwapError', status: 400, reason: null, message: 'Invalid coinTo' })
    expect(service(form).received('rate')).toHaveLength(1)
  })

  it('repeats a read that failed', async () => {
    let failures = 1
    service(form).reply('rate', () => (failures-- > 0 ? { status: 500, text: '<html>' } : undefined))
    expect(await connect().rate('0.10')).toBe('0.123456789012345678')
  })

  it('repeats a create that was refused for a limit, under the same Idempotency-Key', async () => {
    let refusals = 1
    service(form).reply('create', () => (refusals-- > 0 ? { status: 429, json: { message: 'Wait', code: 429 } } : undefined))
    await connect().create('0.10', 'limited')
    expect(
      service(form)
        .received('create')
        .map(({ headers }) => headers['idempotency-key']),
    ).toEqual(['limited', 'limited'])
  })

  it.each([
    ['breaks the connection', { reset: true }],
    ['returns 500', { status: 500, json: { message: 'Internal Server Error', code: 500 } }],
    ['returns what is not JSON', { status: 201, text: '<html>' }],
  ])('never repeats a create of unknown outcome: the service %s', async (_, reply) => {
    service(form).reply('create', reply)
    const error = await failure(connect().create('0.10', 'unknown'))
    expect(error).toBeInstanceOf(OutcomeUnknown)
    expect(service(form).received('create')).toHaveLength(1)
  })

  it('repeats a create that could not be sent, and then reports it', async () => {
    const error = await failure(
      connect({ baseUrl: `http://127.0.0.1:${await freePort(21_000, 9_000)}`, tries: 2 }).create('0.10', 'unsent'),
    )
    expect(error).not.toBeInstanceOf(OutcomeUnknown)
    expect(error).toMatchObject({ message: 'fetch failed' })
  })

  it('sends no amount that is not a number', async () => {
    for (const amount of ['', '0,1', '.5', '1 ', '0x1', '"1"', 'NaN'])
      await expect(connect().create('0.10'.replace('0.10', amount), 'wrong')).rejects.toThrow('must be a number')
    expect(service(form).received('create')).toEqual([])
  })
})

describe('a create of which one try may have made a swap', () => {
  const create = async (answers: readonly Answer[], tries = answers.length) => {
    await using scripted = await startScripted(answers)
    return await failure(clients.A({ baseUrl: scripted.url, key: 'key', tries }).create('0.1', 'doubtful'))
  }
  const limited = { status: 429, reason: 'limited' }

  it.each<[string, Answer]>([
    ['breaks the connection', 'reset'],
    ['says that the outcome is unknown', { status: 504, reason: 'outcome_unknown' }],
    ['says that it is in progress', { status: 409, reason: 'in_progress' }],
    ['is a proxy with 502', { status: 502 }],
  ])('stays one of unknown outcome, whatever a later try gets: the service %s', async (_, first) => {
    const refusals = [{ status: 401, reason: 'key_invalid' }, { status: 400, reason: 'refused' }, limited] as const
    const [unsent, ...errors] = await Promise.all([create([first, 'closed']), ...refusals.map((later) => create([first, later]))])
    for (const error of [unsent, ...errors]) expect(error).toBeInstanceOf(OutcomeUnknown)
    expect(errors).toMatchObject(refusals.map((cause) => ({ cause })))
  })

  it.each([
    ['needs a person', { status: 409, reason: 'needs_person' }],
    ['made another swap', { status: 502, reason: 'mismatch' }],
    ['is still in progress at the last try', { status: 409, reason: 'in_progress' }],
  ])('is reported as one of unknown outcome if it %s', async (_, answer) => {
    expect(await create([answer])).toBeInstanceOf(OutcomeUnknown)
  })

  it('is reported as refused if each try has made nothing', async () => {
    const error = await create([{ status: 503, reason: 'overloaded' }, limited, { status: 400, reason: 'below_minimum' }])
    expect(error).toMatchObject({ name: 'SwapError', reason: 'below_minimum' })
  })
})

it('amounts keep their digits, and other numbers are numbers', () => {
  const text = '{"rate":1.10,"data":[{"amount":1e-8,"amountTo":null}],"code":400,"count":3,"note":"1.10"}'
  expect(parseExact(text)).toEqual({
    rate: '1.10',
    data: [{ amount: '1e-8', amountTo: null }],
    code: 400,
    count: 3,
    note: '1.10',
  })
  expect(printExact(parseExact(text) as object)).toBe(text)
})

/** `reset` breaks the connection of a create, `closed` ends the service before it. Without a reason a proxy has answered. */
type Answer = 'reset' | 'closed' | { readonly status: number; readonly reason?: string }

/** Answers creates in this order; reads as swapgate does. */
async function startScripted(answers: readonly Answer[]) {
  let at = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.writeHead(200, { 'x-swap-form': 'A' }).end('{"data":[]}')
    const answer = answers[at++]
    if (answers[at] === 'closed') server.close()
    if (typeof answer !== 'object') return void response.destroy()
    const { status, reason } = answer
    const close = answers[at] === 'closed' && { connection: 'close' }
    response
      .writeHead(status, { ...close, 'retry-after': '0', ...(reason && { 'x-swap-form': 'A', 'x-swap-reason': reason }) })
      .end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      if (server.listening) await new Promise((done) => server.close(done))
    },
  }
}

/** In front of a server; breaks the connection of the first create after the server has responded. */
async function startBreaking(target: string) {
  const creates: (string | undefined)[] = []
  const server = createServer((request, response) => {
    const isFirst = request.method === 'POST' && creates.push(request.headers['idempotency-key'] as string | undefined) === 1
    const onward = forward(`${target}${request.url}`, { method: request.method ?? '', headers: request.headers }, (received) => {
      if (isFirst) received.resume().once('end', () => response.destroy())
      else received.pipe(response.writeHead(received.statusCode ?? 502, received.headers))
    })
    request.pipe(onward)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    creates,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
