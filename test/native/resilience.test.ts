/** docs/contract.md §11, docs/contract-operators.md §8: the breaker of the native lane, and the isolation of clients from each other. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { LoadLevel } from '../../src/core/access/admission.ts'
import type { UpstreamScope } from '../../src/core/provider-scope.ts'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { errorFacts, type NativeRig, refusal, startRig } from './rig.ts'

let now = 1_000_000
const guarded = {
  breaker: (upstream: UpstreamScope) => createBreaker({ ...upstream, steadyClock: () => now, random: () => 0 }),
  steadyClock: () => now,
}

const observed = <W extends Observation['what']>({ gateway }: NativeRig, what: W): readonly Extract<Observation, { what: W }>[] =>
  gateway.observations.filter((one): one is Extract<Observation, { what: W }> => one.what === what)
const breakersOf = (rig: NativeRig): readonly string[] =>
  observed(rig, 'breaker').flatMap(({ operation, state }) => (state === 'closed' ? [] : [`${operation} ${state}`]))

describe('N14: the breaker of the lane', () => {
  test('opens where native calls fail for two accounts, cools down, and closes with one that succeeds', async () => {
    await using rig = await startRig(guarded)
    const keys = [rig.key, await rig.gateway.issueKey('other')]
    rig.provider.respond = (response) => response.writeHead(500).end('broken')
    for (const key of keys) expect((await rig.send('/exchange/range', { key })).status).toBe(500)
    const refused = await rig.send('/coins/BTC/networks')
    expect(errorFacts(refused)).toEqual(refusal(503, 'provider_busy'))
    expect(Number(refused.headers['retry-after'])).toBe(30)
    expect(breakersOf(rig)).toEqual(['native open'])
    expect(rig.provider.arrived).toHaveLength(2)
    // The operations go on.
    rig.provider.respond = (response) =>
      response.setHeader('content-type', 'application/json').end('{"data":[],"pagination":{"page":1,"size":100,"total":0}}')
    const { status } = await fetch(`${rig.gateway.url}/a/api/v2/currencies`)
    expect(status).toBe(200)
    now += 31_000
    expect((await rig.send('/exchange/range', { key: keys[1] as string })).status).toBe(200)
    expect(breakersOf(rig)).toEqual(['native open', 'native halfOpen'])
    expect(observed(rig, 'breaker').at(-1)).toMatchObject({ operation: 'native', state: 'closed' })
  })

  test('holds back one account whose calls alone fail', async () => {
    await using rig = await startRig(guarded)
    const other = await rig.gateway.issueKey('other')
    rig.provider.respond = (response, { url }) => {
      if (url.includes('/transactions'))
        response.setHeader('content-type', 'application/json').end('{"data":[],"pagination":{"page":1,"size":1,"total":0}}')
      else if (url.includes('bad')) response.writeHead(502).end()
      else response.end('good')
    }
    await rig.send('/exchange/range', { key: other })
    for (let at = 0; at < 5; at++) await rig.send('/exchange/range?bad')
    await vi.waitFor(
      async () => expect(errorFacts(await rig.send('/exchange/range'))).toEqual(refusal(503, 'provider_busy')),
      eventTimeoutMs,
    )
    expect((await rig.send('/exchange/range', { key: other })).status).toBe(200)
    expect(observed(rig, 'localRejection').every(({ by }) => by === 'caller')).toBe(true)
  })

  test('is opened by five calls without a connection, and by no client that hangs up, sends too much or too slowly', async () => {
    await using rig = await startRig({ ...guarded, facts: { nativeIdle: 0.1, timeout: 5, nativeMaxBytes: 10 } })
    rig.provider.respond = async (response, { body }) => (await body) && response.end()
    for (let at = 0; at < 4; at++) {
      await rig.send('/estimates', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'more than ten bytes' })
      const socket = connect(rig.gateway.port, '127.0.0.1')
      socket.write(`${rig.head('POST /native/alpha/estimates', 'content-length: 5', 'connection: close')}a`)
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 408/)
    }
    expect(new Set(observed(rig, 'call').map(({ outcome }) => outcome))).toEqual(new Set(['abandoned']))
    expect(breakersOf(rig)).toEqual([])
    await rig.provider.close()
    for (let at = 0; at < 5; at++) expect((await rig.send('/exchange/range')).status).toBe(502)
    expect((await rig.send('/exchange/range')).status).toBe(503)
    expect(breakersOf(rig)).toEqual(['native open'])
  })

  test('lets one call find out, and is closed by its head while its body goes on', async () => {
    await using rig = await startRig(guarded)
    const other = await rig.gateway.issueKey('other')
    rig.provider.respond = (response) => response.writeHead(503).end()
    for (const key of [rig.key, other]) await rig.send('/exchange/range', { key })
    now += 31_000
    const streaming = Promise.withResolvers<() => void>()
    rig.provider.respond = (response, { url }) => {
      if (!url.includes('long')) return void response.end('short')
      response.write('begin')
      streaming.resolve(() => response.end('end'))
    }
    const long = rig.send('/exchange/range?long', { key: other })
    const finish = await streaming.promise
    await vi.waitFor(async () => expect((await rig.send('/exchange/range')).status).toBe(200), eventTimeoutMs)
    finish()
    expect(String((await long).body)).toBe('beginend')
  })
})

describe('N15: one client’s native calls', () => {
  test('that the provider limits pause that path only, for its Retry-After', async () => {
    await using rig = await startRig(guarded)
    rig.provider.respond = (response, { url }) => {
      if (url.includes('quiet')) response.writeHead(429).end()
      else if (url.includes('range')) response.writeHead(429, { 'retry-after': '7' }).end('enough')
      else response.end('good')
    }
    for (let at = 0; at < 2; at++) expect((await rig.send('/exchange/range?quiet')).status).toBe(429)
    const limited = await rig.send('/exchange/range')
    expect([limited.status, String(limited.body), limited.headers['retry-after']]).toEqual([429, 'enough', '7'])
    const rested = await rig.send('/exchange/range')
    expect(errorFacts(rested)).toEqual(refusal(503, 'provider_busy'))
    expect(Number(rested.headers['retry-after'])).toBe(7)
    expect((await rig.send('/coins/BTC/networks')).status).toBe(200)
    now += 7_000
    expect((await rig.send('/exchange/range')).status).toBe(429)
  })

  test('take at most half of the places, and none of the operations', { timeout: 60_000 }, async () => {
    await using rig = await startRig()
    const other = await rig.gateway.issueKey('other')
    rig.provider.respond = (response, { url }) => {
      if (url.includes('hold')) response.write('x')
      else if (url.includes('/currencies'))
        response.setHeader('content-type', 'application/json').end('{"data":[],"pagination":{"page":1,"size":100,"total":0}}')
      else response.end('good')
    }
    const sockets = Array.from({ length: 64 }, () => {
      const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
      socket.write(rig.head('GET /native/alpha/exchange/range?hold'))
      return socket
    })
    await vi.waitFor(() => expect(rig.provider.arrived).toHaveLength(64), { timeout: 20_000 })
    expect(errorFacts(await rig.send('/exchange/range'))).toEqual(refusal(503, 'provider_busy'))
    expect((await rig.send('/exchange/range', { key: other })).status).toBe(200)
    expect((await fetch(`${rig.gateway.url}/a/api/v2/currencies`)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(async () => expect((await rig.send('/exchange/range')).status).toBe(200), { timeout: 20_000 })
  })
})

test('N15: an unfinished body takes a place of its account, and none of another', { timeout: 60_000 }, async () => {
  await using rig = await startRig()
  const other = await rig.gateway.issueKey('other')
  const send = (key: string) => rig.send('/estimates', { method: 'POST', body: '{}', key })
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
    socket.write(`${rig.head('POST /native/alpha/estimates', 'content-length: 10', 'content-type: application/json')}{`)
    return socket
  })
  const refused = sockets.map(async (socket) => String((await once(socket, 'data'))[0]))
  const texts: string[] = []
  for (const each of refused)
    void each.then(
      (text) => texts.push(text),
      () => {},
    )
  await vi.waitFor(() => expect(texts).toHaveLength(136), { timeout: 20_000 })
  for (const text of texts) expect(text).toMatch(/^HTTP\/1\.1 503 .*x-swap-reason: provider_busy\r\n/s)
  expect(errorFacts(await send(rig.key))).toEqual(refusal(503, 'provider_busy'))
  expect((await send(other)).status).toBe(200)
  expect(rig.provider.arrived).toHaveLength(1)
  for (const socket of sockets) socket.destroy()
  await vi.waitFor(async () => expect((await send(rig.key)).status).toBe(200), { timeout: 20_000 })
})

test('N15: where two accounts hold every place, a third gets the place of the oldest call of one of them', {
  timeout: 60_000,
}, async () => {
  let time = 0
  await using rig = await startRig({ steadyClock: () => time })
  const [second, third] = [await rig.gateway.issueKey('second'), await rig.gateway.issueKey('third')]
  rig.provider.respond = (response, { url }) => void (url.includes('hold') ? response.write('x') : response.end('good'))
  let closed = 0
  const sockets = [rig.key, second].flatMap((key) =>
    Array.from({ length: 64 }, () => {
      const socket = connect(rig.gateway.port, '127.0.0.1').on('error', () => {})
      socket.resume().on('close', () => closed++)
      socket.write(`GET /native/alpha/exchange/range?hold HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${key}\r\n\r\n`)
      return socket
    }),
  )
  await vi.waitFor(() => expect(rig.provider.arrived).toHaveLength(128), { timeout: 20_000 })
  time = 2_000
  expect((await rig.send('/exchange/range', { key: third })).status).toBe(200)
  await vi.waitFor(() => expect(closed).toBe(1), eventTimeoutMs)
  expect(observed(rig, 'call').filter(({ outcome }) => outcome === 'abandoned')).toHaveLength(1)
  for (const socket of sockets) socket.destroy()
})

test('N7: an exchange ends after nativeTimeout, however lively it is', async () => {
  await using rig = await startRig({ facts: { nativeTimeout: 0.3 } })
  rig.provider.respond = (response) => {
    const trickle = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(trickle))
  }
  const { status, isCut } = await rig.send('/exchange/range')
  expect([status, isCut]).toEqual([200, true])
})

test('N15: under load a request of the lane is shed as the operation that it counts as: 503 in the form of its key, and counted', async () => {
  const load: { level: LoadLevel } = { level: 0 }
  await using rig = await startRig({ load })
  const status = async (method: string, path: string, form: 'A' | 'B' = 'A') => {
    const response = await rig.send(path, { method, form, ...(method === 'POST' && { body: '{}' }) })
    return [response, response.status] as const
  }
  load.level = 1
  expect((await status('GET', '/exchange/range'))[1]).toBe(200)
  load.level = 2
  const [shed] = await status('GET', '/exchange/range')
  expect(errorFacts(shed)).toEqual(refusal(503, 'overloaded'))
  expect(shed.headers['retry-after']).toBe('2')
  expect(JSON.parse(String(shed.body))).toEqual({ error: 'Service Unavailable', message: expect.any(String), code: 503 })
  expect(JSON.parse(String((await status('GET', '/exchange/range', 'B'))[0].body))).toEqual({
    message: expect.any(String),
    code: 503,
  })
  expect((await status('POST', '/estimates'))[1]).toBe(200)
  load.level = 3
  expect((await status('POST', '/estimates'))[1]).toBe(503)
  expect(rig.provider.arrived).toHaveLength(2)
  const ends = observed(rig, 'request').filter((end) => end.status === 503)
  expect(ends.map(({ operation, errorType }) => [operation, errorType])).toEqual(
    Array.from({ length: 3 }, () => ['native', 'limit_overload']),
  )
})

test('N16: each request is reported once, by the template of its path, and each call once', async () => {
  await using rig = await startRig()
  rig.provider.respond = (response, { url }) => response.writeHead(url.includes('bad') ? 503 : 200).end('x')
  await rig.send('/coins/secret-coin/networks?secret=1')
  await rig.send('/exchange/range?bad')
  await rig.send('/closed/secret')
  await rig.send('/estimates', { method: 'POST', key: null, form: 'B' })
  const ends = observed(rig, 'request').map(({ operation, method, route, status, errorType, client, provider }) => [
    operation,
    method,
    route,
    status,
    errorType,
    client,
    provider,
  ])
  expect(ends).toEqual([
    ['native', 'GET', '/native/alpha/coins/{}/networks', 200, 'none', 'A', 'alpha'],
    ['native', 'GET', '/native/alpha/exchange/range', 503, 'provider_failed', 'A', 'alpha'],
    [undefined, 'GET', '', 404, 'caller_not_found', 'A', undefined],
    ['native', 'POST', '/native/alpha/estimates', 401, 'caller_unauthorized', 'A', undefined],
  ])
  const calls = observed(rig, 'call').map(({ operation, method, provider, status, outcome }) => [
    operation,
    method,
    provider,
    status,
    outcome,
  ])
  expect(calls).toEqual([
    ['native', 'GET', 'alpha', 200, 'done'],
    ['native', 'GET', 'alpha', 503, 'failed'],
  ])
})
