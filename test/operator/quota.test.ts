/** docs/contract-operators.md §15: what operators read has a fifth of the processor at most. */
import { once } from 'node:events'
import { get, request as open } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import { ProcessorQuota } from '../../src/domain/processor-quota.ts'
import { TokenCheck } from '../../src/operator/tokens.ts'
import { operatorsToken, readersToken, serveApi, token } from './served.ts'

afterEach(() => void vi.restoreAllMocks())

const providers = { providers: [], routing: { providers: [], strategy: 'priority' } }

test('all reads, and previews of settlements, have turns in one quota; what changes something waits for no turn, nor does the health', async () => {
  const runs = vi.spyOn(ProcessorQuota.prototype, 'run')
  await using api = await serveApi({}, providers)
  const { paths } = (await api.call('GET', '/openapi.json')).json as { paths: Record<string, Record<string, unknown>> }
  const inTurn: string[] = []
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  )
  for (const [method, path] of all) {
    const before = runs.mock.calls.length
    if (path === '/api/events') continue
    await api.call(method, path.replace('/api', '').replace(/\{\w+\}/, 'x'), method === 'GET' ? undefined : {})
    if (runs.mock.calls.length > before) inTurn.push(`${method} ${path}`)
  }
  const gets = all.filter(([method, path]) => method === 'GET' && path !== '/api/health' && path !== '/api/events')
  expect(inTurn.toSorted()).toEqual([...gets.map((get) => get.join(' ')), 'POST /api/settlements'].toSorted())
  expect(new Set(runs.mock.contexts).size).toBe(1)
})

test('for a client that has left no further row is made', async () => {
  const ended = Promise.withResolvers<void>()
  function* endless() {
    try {
      for (let number = 0; ; number++) yield { id: `key-${number}`, account: 'acme', name: 'acme', scope: [], createdAt: 0 }
    } finally {
      ended.resolve()
    }
  }
  await using api = await serveApi({ accounts: { listKeys: async () => endless() } }, providers)
  const request = get(`${api.url}/api/keys`, { headers: { authorization: `Bearer ${token}` } })
  const [response] = await once(request, 'response')
  await once(response, 'data')
  request.destroy()
  await ended.promise
})

test('a token has 16 reads at a time, others theirs', async () => {
  const ledger = Promise.withResolvers<readonly []>()
  const asked: unknown[] = []
  const accounts = {
    listKeys: () => {
      asked.push(1)
      return ledger.promise
    },
  }
  await using api = await serveApi({ accounts }, providers)
  const send = (path: string, by = token) => get(`${api.url}/api${path}`, { headers: { authorization: `Bearer ${by}` } })
  const statusOf = async (request: ReturnType<typeof send>) => {
    const [response] = await once(request, 'response')
    response.resume()
    return response.statusCode as number
  }
  const reads = Array.from({ length: 16 }, () => send('/keys'))
  await expect.poll(() => asked.length).toBe(16)
  expect(await statusOf(send('/keys'))).toBe(429)
  expect(await statusOf(send('/token', readersToken))).toBe(200)
  ledger.resolve([])
  expect(await Promise.all(reads.map(statusOf))).toEqual(Array(16).fill(200))
  expect(await statusOf(send('/keys'))).toBe(200)
})

test('tokens do not fill the port with reads that wait: of many each has as many as the page', async () => {
  const ledger = Promise.withResolvers<readonly []>()
  let asked = 0
  const listKeys = () => {
    asked++
    return ledger.promise
  }
  await using api = await serveApi({ accounts: { listKeys } }, providers)
  const more = Array.from({ length: 2 }, (_, number) => `operator-token-of-number-${number}-0123456789`)
  for (const text of more) api.tokens[text] = text
  const statuses: number[] = []
  const ended: Promise<unknown>[] = []
  const send = (by: string) => {
    const request = get(`${api.url}/api/keys`, { headers: { authorization: `Bearer ${by}` } }, (response) => {
      response.resume()
      statuses.push(response.statusCode ?? 0)
    })
    ended.push(once(request, 'close'))
  }
  let expected = 0
  for (const [by, places] of [
    [token, 16],
    [readersToken, 8],
    ...[operatorsToken, ...more].map((other) => [other, 6] as const),
  ] as const) {
    for (let number = 0; number < 16; number++) send(by)
    expected += places
    await expect.poll(() => asked + statuses.length, { message: by }).toBe(ended.length)
    expect(asked, by).toBe(expected)
  }
  ledger.resolve([])
  await Promise.all(ended)
  expect(new Set(statuses)).toEqual(new Set([429, 200]))
})

test('a token has 16 changes at a time, others theirs', async () => {
  const ledger = Promise.withResolvers<boolean>()
  let asked = 0
  const revokeKey = () => {
    asked++
    return ledger.promise
  }
  await using api = await serveApi({ accounts: { revokeKey } }, providers)
  const statusOf = async (by: string) => {
    const headers = { authorization: `Bearer ${by}` }
    return (await fetch(`${api.url}/api/keys/x`, { method: 'DELETE', headers })).status
  }
  const changes = Array.from({ length: 16 }, () => statusOf(token))
  await expect.poll(() => asked).toBe(16)
  expect(await statusOf(token)).toBe(429)
  const other = statusOf(operatorsToken)
  await expect.poll(() => asked).toBe(17)
  ledger.resolve(false)
  expect(await Promise.all([...changes, other])).toEqual(Array(17).fill(404))
})

test.each<[string, (tokens: Record<string, unknown>) => void, number]>([
  ['is taken away', (tokens) => delete tokens.alice, 401],
  ['loses the role', (tokens) => Object.assign(tokens, { alice: { token, roles: ['read', 'operate'] } }), 403],
])('what waits for its turn, and what waits for its body, is refused to a token that %s meanwhile', async (_, change, status) => {
  const read: string[] = []
  const first = Promise.withResolvers<readonly []>()
  const stores = {
    accounts: { listKeys: () => first.promise },
    audit: { append: async () => {} },
    ledgerAdmin: {
      findTransaction: async () => void read.push('read'),
      settle: async () => void read.push('settled'),
    },
  }
  // Twice of what waits for its turn, once of what has only its head.
  const checks = vi.spyOn(TokenCheck.prototype, 'authenticate')
  let begun = 0
  const begin = ProcessorQuota.prototype.begin
  const turn = Promise.withResolvers<void>()
  vi.spyOn(ProcessorQuota.prototype, 'begin').mockImplementation(async function (this: ProcessorQuota, ...given) {
    begun++
    await begin.apply(this, given)
    await turn.promise
  })
  await using api = await serveApi(stores, providers)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const waiting = fetch(`${api.url}/api/transactions/alpha~x`, { headers })
  const body = JSON.stringify({ status: 'success', note: 'x' })
  const slow = open(`${api.url}/api/transactions/alpha~x`, {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length },
  })
  const answered = once(slow, 'response')
  slow.write(body.slice(0, 5))
  await expect.poll(() => begun).toBe(1)
  await expect.poll(() => checks.mock.calls.length).toBe(3)
  change(api.tokens)
  turn.resolve()
  slow.end(body.slice(5))
  const [response] = await answered
  response.resume()
  expect([(await waiting).status, response.statusCode, read]).toEqual([status, status, []])
})

test('a report that one token waits for, in its turns, is not what another one waits for', async () => {
  const slow = Promise.withResolvers<readonly []>()
  let asked = 0
  const usage = { read: async () => (++asked === 1 ? slow.promise : []) }
  await using api = await serveApi({ usage }, providers)
  const read = (by: string) => fetch(`${api.url}/api/usage?since=30d`, { headers: { authorization: `Bearer ${by}` } })
  const first = read(token)
  await expect.poll(() => asked).toBe(1)
  const same = read(token)
  expect((await read(readersToken)).status).toBe(200)
  expect(asked).toBe(2)
  slow.resolve([])
  expect([(await first).status, (await same).status]).toEqual([200, 200])
})
