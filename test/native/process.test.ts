/** docs/contract.md §11, §10, docs/contract-operators.md §13, in the real gateway: reloads, its end, TLS, traces, and a provider that does everything wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { certify } from '../support/certificate.ts'
import { commandOver } from '../support/command.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { startRawProvider } from '../support/raw.ts'
import { Collector } from '../tracing/collector.ts'
import { type NativeProvider, startNativeProvider } from './provider.ts'
import { errorFacts, type NativeResponse, open, providerKey, refusal, type Sent, sendTo } from './rig.ts'

let directory: ConfigDirectory
let provider: NativeProvider
beforeEach(async () => {
  directory = new ConfigDirectory()
  provider = await startNativeProvider()
})
afterEach(async () => {
  await provider.close()
  directory[Symbol.dispose]()
})

function settings(facts: object, sections: object = {}): string {
  return JSON.stringify({
    server: { port: 0, shutdownDelay: 0.2, drain: 3 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    ledger: { url: `sqlite:${join(directory.path, 'ledger.db')}` },
    limits: { quotes: 100_000, create: 100_000, read: 100_000 },
    providers: {
      alpha: {
        form: 'A',
        url: provider.url,
        key: providerKey,
        native: open,
        rateLimit: { quotes: 0, create: 0, read: 0 },
        ...facts,
      },
    },
    routing: { providers: ['alpha'] },
    ...sections,
  })
}

async function start(facts: object = {}, sections: object = {}) {
  const file = directory.write(settings(facts, sections))
  const key = await createKey(file)
  const gateway = new Swapgate(['start', '--config', file])
  const url = (await gateway.urls()).get('gateway') as string
  return { gateway, url, key, send: sender(url, key), [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

async function startInProcess(facts: object = {}, sections: object = {}) {
  const gateway = await InProcessGateway.start(directory.write(settings(facts, sections)))
  const send = sender(gateway.url, await gateway.createKey('acme'))
  return { gateway, send, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

async function createKey(file: string): Promise<string> {
  const { key } = (await commandOver(file, ['keys', 'create', '--name', 'acme'])) as { readonly key: string }
  return key
}

const sender =
  (url: string, key: string) =>
  (path: string, sent: Sent = {}): Promise<NativeResponse> =>
    sendTo(`${url}/native/alpha${path}`, { key, ...sent })

/** Responses come half at once, and half when the function is called. */
function answersByHalves(): { readonly begun: () => number; readonly finish: () => void } {
  const finishes: (() => void)[] = []
  provider.respond = (response) => {
    response.writeHead(200, { 'content-length': 6 }).write('abc')
    finishes.push(() => response.end('def'))
  }
  return {
    begun: () => finishes.length,
    finish: () => {
      for (const finish of finishes.splice(0)) finish()
    },
  }
}

test('N17: what is in flight at a reload ends as it began, and new requests go by what is open now', async () => {
  await using running = await startInProcess()
  const halves = answersByHalves()
  const inFlight = [running.send('/exchange/range'), running.send('/coins/BTC/networks')]
  await vi.waitFor(() => expect(halves.begun()).toBe(2), eventTimeoutMs)
  directory.write(settings({ native: ['GET /new'] }))
  running.gateway.reload()
  await vi.waitFor(() => expect(running.gateway.output).toContain('swapgate: the configuration was read again'), {
    timeout: eventTimeoutMs,
  })
  expect(errorFacts(await running.send('/exchange/range'))).toEqual(refusal(404, 'not_open'))
  // Another provider altogether, while the responses of the first are still on their way.
  const other = await startNativeProvider()
  directory.write(settings({ native: ['GET /new'], url: other.url, timeout: 7 }))
  running.gateway.reload()
  await vi.waitFor(
    () => expect(running.gateway.output.split('swapgate: the configuration was read again').length).toBeGreaterThan(2),
    { timeout: eventTimeoutMs },
  )
  expect((await running.send('/new')).status).toBe(200)
  expect(other.arrived).toHaveLength(1)
  halves.finish()
  for (const { status, body, isCut } of await Promise.all(inFlight))
    expect([status, String(body), isCut]).toEqual([200, 'abcdef', false])
  await other.close()
})

test('N17: a provider whose settings change again and again leaves nothing behind, and the process complains of nothing', {
  timeout: 60_000,
}, async () => {
  await using running = await start()
  for (let timeout = 20; timeout < 32; timeout++) {
    directory.write(settings({ timeout, native: [`GET /within/${timeout}`] }))
    running.gateway.child.kill('SIGHUP')
    await vi.waitFor(async () => expect((await running.send(`/within/${timeout}`)).status).toBe(200), eventTimeoutMs)
  }
  running.gateway.child.kill('SIGTERM')
  expect(await running.gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
})

test('N17: at the end what is in flight is finished, with Connection: close, and new requests on open connections get responses', async () => {
  await using running = await start()
  const halves = answersByHalves()
  const early = running.send('/exchange/range')
  await vi.waitFor(() => expect(halves.begun()).toBe(1), eventTimeoutMs)
  running.gateway.child.kill('SIGTERM')
  await wait(50)
  const late = running.send('/exchange/range')
  await vi.waitFor(() => expect(halves.begun()).toBe(2), eventTimeoutMs)
  await wait(400)
  halves.finish()
  const [first, second] = await Promise.all([early, late])
  expect([first.status, String(first.body), second.status, String(second.body)]).toEqual([200, 'abcdef', 200, 'abcdef'])
  expect(second.headers.connection).toBe('close')
  expect(await running.gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
})

test('N17: a response that does not end is cut off with the process, after server.drain', async () => {
  await using running = await start({}, { server: { port: 0, shutdownDelay: 0, drain: 0.3 } })
  const halves = answersByHalves()
  const response = running.send('/exchange/range')
  await vi.waitFor(() => expect(halves.begun()).toBe(1), eventTimeoutMs)
  running.gateway.child.kill('SIGTERM')
  expect((await response).isCut).toBe(true)
  expect(await running.gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
})

test('N18: whatever a provider and its clients do to each other, the process goes on and complains of nothing', {
  timeout: 60_000,
}, async () => {
  const heads = [
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n',
    'HTTP/1.1 302 Found\r\nlocation: x\r\n\r\n',
    'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    '\u0000\u0001',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n',
  ]
  let turn = 0
  const raw = await startRawProvider((socket) => {
    const at = turn++
    socket.write(heads[at % heads.length] as string, () => {
      if (at % 3 === 0) socket.resetAndDestroy()
      if (at % 3 === 1) socket.end()
      if (at % 3 === 2) setTimeout(() => socket.resetAndDestroy(), at % 7)
    })
  })
  await using running = await start({ url: raw.url, timeout: 1, nativeIdle: 0.2 })
  const once = async (at: number): Promise<unknown> => {
    const signal = at % 4 === 0 ? AbortSignal.timeout(at % 9) : null
    const post = { method: 'POST', body: Buffer.alloc((at % 5) * 300_000), duplex: 'half' }
    const options = { headers: { authorization: `Bearer ${running.key}` }, signal, ...(at % 2 === 1 && post) } as RequestInit
    const path = at % 2 === 1 ? '/estimates' : '/exchange/range'
    return fetch(`${running.url}/native/alpha${path}`, options)
      .then((response) => response.arrayBuffer())
      .catch(() => {})
  }
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 24 }, (_, at) => once(round * 24 + at)))
  expect((await fetch(`${running.url}/a/api/v2/nowhere`)).status).toBe(404)
  running.gateway.child.kill('SIGTERM')
  expect(await running.gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
  await raw.close()
})

test('N19: over TLS, by the name of the certificate', async () => {
  const authority = certify({ name: 'authority' })
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-tls-'))
  const file = join(directory, 'ca.pem')
  writeFileSync(file, authority.cert)
  const own = certify({ name: 'localhost', issuer: authority })
  const secure = await startNativeProvider((listener) => createServer({ cert: own.cert, key: own.key }, listener))
  vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
  try {
    const { port } = new URL(secure.url)
    await using running = await start({ url: `https://localhost:${port}/service/api/v2` })
    const { status, body } = await running.send('/estimates', { method: 'POST', body: 'abc' })
    expect([status, String(body)]).toEqual([200, 'abc'])
    expect(secure.arrived[0]?.headers.host).toBe(`localhost:${port}`)
    await using stranger = await start({ url: `https://127.0.0.1:${port}/service/api/v2` })
    expect(errorFacts(await stranger.send('/exchange/range'))).toEqual(refusal(502, 'provider_failed'))
  } finally {
    vi.unstubAllEnvs()
    rmSync(directory, { recursive: true })
    await secure.close()
  }
})

test('N16: one server span and one client span, whose trace goes up, and no path, query or key in them', async () => {
  const collector = await Collector.start()
  await using running = await startInProcess({}, { telemetry: { endpoint: collector.url, ratio: 1, delayMs: 20 } })
  expect((await running.send('/coins/secret-coin/networks?secret=1')).status).toBe(200)
  const trace = await collector.next()
  expect(trace.outline()).toEqual(['GET /native/alpha/coins/{}/networks', '  admission', '  GET'])
  const [call] = trace.clients
  expect(call?.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(provider.url).port),
    'swapgate.operation': 'native',
    'swapgate.provider': 'alpha',
  })
  expect(trace.root.attributes).toMatchObject({ 'swapgate.operation': 'native', 'http.route': '/native/alpha/coins/{}/networks' })
  expect(provider.arrived[0]?.headers.traceparent).toBe(`00-${trace.root.traceId}-${call?.spanId}-01`)
  expect(inspect(trace, { depth: 9 })).not.toMatch(/secret|provider-key|sg_live/)
  await collector[Symbol.asyncDispose]()
})
