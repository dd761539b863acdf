// Runs alone, since its timeouts are short.
import { lookup } from 'node:dns'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { certify } from '../../test/support/certificate.ts'
import { eventTimeoutMs } from '../../test/support/event-timeout.ts'
import { otlpCertificates } from '../config/index.ts'
import { recordTraces } from '../domain/trace.ts'
import { collector as listen } from './tracing/fixture.ts'
import { type ExporterOptions, exporter, resource, toReadableSpan } from './tracing.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function collector(...given: Parameters<typeof listen>) {
  const opened = await listen(...given)
  cleanUps.push(opened.close)
  return opened
}

/** Sends empty batches and returns their results. */
function opened(url: URL, timeoutMs = 5_000) {
  const results: string[] = []
  const settings = { url: `${url.origin}/v1/traces`, timeoutMs, version: '1.2.3', agent: { lookup, ...otlpCertificates() } }
  const sender = exporter(settings, (result) => void results.push(result))
  cleanUps.push(() => sender.shutdown())
  const send = async (): Promise<string | undefined> => {
    await new Promise<unknown>((done) => sender.export([], done))
    return results.at(-1)
  }
  return { send, results }
}

/** Has the exporters that are opened from now on trust this authority. */
function trust(authority: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-exporter-'))
  cleanUps.push(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'ca.pem'), authority)
  vi.stubEnv('OTEL_EXPORTER_OTLP_CERTIFICATE', join(directory, 'ca.pem'))
}

test('batches arrive as protobuf, one after the other, over one connection', async () => {
  const { taken, url, connections } = await collector([200])
  const { send, results } = opened(url)
  await send()
  await send()
  expect([results, connections()]).toEqual([['exported', 'exported'], 1])
  expect(taken[1]).toMatchObject({ method: 'POST', path: '/v1/traces', headers: { 'content-type': 'application/x-protobuf' } })
  expect(taken[1]?.headers['user-agent']).toMatch(/^swapgate\/1\.2\.3 /)
  expect(taken[1]?.headers).not.toHaveProperty('content-encoding')
})

test('headers, certificate and compression follow the OTEL_EXPORTER_OTLP_… variables', async () => {
  const authority = certify({ name: 'authority' })
  const { taken, url } = await collector([200], { secure: certify({ name: 'localhost', issuer: authority }) })
  expect(await opened(url).send()).toBe('failed')
  trust(authority.cert)
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip')
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=acme')
  expect(await opened(url).send()).toBe('exported')
  expect(taken).toHaveLength(1)
  expect(taken[0]?.headers).toMatchObject({ 'content-encoding': 'gzip', 'x-tenant': 'acme' })
  expect(gunzipSync(taken[0]?.bytes as Buffer)).toHaveLength(0)
})

test('the name of the collector is looked up as the caller wishes', async () => {
  const { taken, url } = await collector([200])
  const names: string[] = []
  const agent: ExporterOptions['agent'] = {
    lookup(name, _, done) {
      names.push(name)
      process.nextTick(done, null, [{ address: '127.0.0.1', family: 4 }])
    },
  }
  const sender = exporter({ url: `http://collector.example:${url.port}/`, timeoutMs: 5_000, version: '1', agent }, () => {})
  cleanUps.push(() => sender.shutdown())
  await new Promise<unknown>((done) => sender.export([], done))
  expect([names, taken.length]).toEqual([['collector.example'], 1])
})

// ExportTraceServiceResponse { partial_success: { rejected_spans } } as protobuf.
test.each([
  ['one of three', Buffer.from([0x0a, 0x02, 0x08, 0x01]), { exported: 2, failed: 1 }],
  ['all, and more than there are', Buffer.from([0x0a, 0x02, 0x08, 0x09]), { exported: 0, failed: 3 }],
  ['none, with a warning', Buffer.from([0x0a, 0x03, 0x12, 0x01, 0x21]), { exported: 3 }],
  ['none', Buffer.alloc(0), { exported: 3 }],
])('what the collector took is exported where it rejects %s', async (_, body, expected) => {
  const { url } = await collector([200], { body })
  const counts: Record<string, number> = {}
  const sender = exporter({ url: url.href, timeoutMs: 5_000, version: '1', agent: {} }, (result, count) => {
    counts[result] = (counts[result] ?? 0) + count
  })
  cleanUps.push(() => sender.shutdown())
  const source = { resource: resource('1'), instrumentationScope: { name: 'swapgate' } }
  const spans = Array.from({ length: 3 }, () => toReadableSpan(recordTraces(1, () => {}).begin('server', 'HTTP', []), 0, source))
  await new Promise<unknown>((done) => sender.export(spans, done))
  expect(counts).toEqual(expected)
})

test('a retryable status is retried', async () => {
  const { taken, url } = await collector([503, 200])
  expect(await opened(url).send()).toBe('exported')
  expect(taken).toHaveLength(2)
})

test('Retry-After leads to no retry if less time is left', async () => {
  const { taken, url } = await collector([503, 200], { headers: { 'retry-after': '5' } })
  expect(await opened(url, 4_000).send()).toBe('failed')
  expect(taken).toHaveLength(1)
})

test.each([400, 413, 500, 302])('status %i is not retried', async (status) => {
  const { taken, url } = await collector([status, 200])
  expect(await opened(url).send()).toBe('failed')
  expect(taken).toHaveLength(1)
})

test('a collector that never responds times out, and the next batch has its own timeout', async () => {
  const { taken, url } = await collector([0, 200])
  const { send } = opened(url, 1_000)
  expect(await send()).toBe('failed')
  expect(await send()).toBe('exported')
  expect(taken).toHaveLength(2)
})

test.each([200, 400, 503])('a response with status %i that never ends fails, and its connection is closed', async (status) => {
  const { taken, url, openConnections } = await collector([status, 204], { trickled: status })
  const { send } = opened(url, 1_000)
  expect(await send()).toBe('failed')
  await vi.waitFor(() => expect(openConnections()).toBe(0), { timeout: eventTimeoutMs })
  expect(await send()).toBe('exported')
  expect(taken).toHaveLength(2)
})

test('also over TLS a response that never ends fails', async () => {
  const authority = certify({ name: 'authority' })
  const secure = certify({ name: 'localhost', issuer: authority })
  const { taken, url, openConnections } = await collector([200], { secure, trickled: 200 })
  trust(authority.cert)
  expect(await opened(url, 500).send()).toBe('failed')
  await vi.waitFor(() => expect(openConnections()).toBe(0), { timeout: eventTimeoutMs })
  expect(taken).toHaveLength(1)
})

test('a retry whose response never ends fails at the timeout of the batch', async () => {
  const { taken, url } = await collector([503, 200], { trickled: 200 })
  const began = performance.now()
  expect(await opened(url, 2_000).send()).toBe('failed')
  expect(performance.now() - began).toBeLessThan(2_700)
  expect(taken).toHaveLength(2)
})

test('an upgrade to another protocol fails', async () => {
  const { url } = await collector([101], { headers: { connection: 'upgrade', upgrade: 'h2c' } })
  expect(await opened(url, 200).send()).toBe('failed')
})

test('the connection stays open beyond the timeout of a batch', async () => {
  const { url, connections } = await collector([200])
  const { send, results } = opened(url, 100)
  await send()
  await new Promise((done) => setTimeout(done, 200))
  await send()
  expect([results, connections()]).toEqual([['exported', 'exported'], 1])
})

test('a request of the application to the same URL has no timeout', async () => {
  const { url } = await collector([200], { trickled: 200 })
  await opened(url, 50).send()
  const timeouts: unknown[] = []
  const request = get(new URL('/v1/traces', url)).on('timeout', (event) => timeouts.push(event))
  const [response] = await once(request, 'response')
  response.resume()
  await new Promise((done) => setTimeout(done, 200))
  expect([timeouts, response.destroyed]).toEqual([[], false])
  request.destroy()
})

test('a batch of another exporter to the same URL does not change the timeout', async () => {
  const { url } = await collector([200], { delayMs: 200 })
  expect(await opened(url, 20).send()).toBe('failed')
  expect(await opened(url, 5_000).send()).toBe('exported')
})

test('a timeout longer than a timer of Node is not taken for none', async () => {
  const { taken, url } = await collector([200], { delayMs: 100 })
  expect(await opened(url, 2 ** 31).send()).toBe('exported')
  expect(taken).toHaveLength(1)
})

test.each([200, 500])('after a response with status %i no timer keeps it in memory', async (status) => {
  const { url } = await collector([status])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  cleanUps.push(() => vi.useRealTimers())
  expect(await opened(url).send()).toBe(status === 200 ? 'exported' : 'failed')
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0), { timeout: eventTimeoutMs })
})

test('a refused connection fails within the timeout', async () => {
  const { url, close } = await collector([200])
  close()
  expect(await opened(url, 500).send()).toBe('failed')
})
