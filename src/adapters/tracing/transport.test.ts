// Runs alone, since its timeouts are short.
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { certify } from '../../../test/support/certificate.ts'
import { collector as listen } from './fixture.ts'
import { type Collector, transport } from './transport.ts'

const cleanUps: (() => unknown)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

async function collector(...given: Parameters<typeof listen>) {
  const opened = await listen(...given)
  cleanUps.push(opened.close)
  return opened
}

function opened(url: URL, given: Partial<Collector> = {}) {
  const headers = async () => ({ 'content-type': 'application/x-protobuf', 'x-tenant': 'acme' })
  const way = transport({ url, headers, isCompressed: false, tls: async () => ({}), ...given })
  cleanUps.push(() => way.shutdown())
  return way
}

const data = new Uint8Array([0, 1, 0xff, 10, 13, 200]).subarray(1)

test('bytes and headers arrive unchanged, one batch after the other', async () => {
  const { taken, url } = await collector([200])
  const way = opened(url)
  expect(await way.send(data, 1_000)).toEqual({ status: 'success' })
  expect(await way.send(data, 1_000)).toEqual({ status: 'success' })
  expect(taken).toHaveLength(2)
  expect(taken[1]).toMatchObject({ method: 'POST', path: '/otel/v1/traces', bytes: Buffer.from(data) })
  expect(taken[1]?.headers).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-tenant': 'acme' })
  expect(taken[1]?.headers).not.toHaveProperty('content-encoding')
})

test('with compression the bytes are compressed and labelled', async () => {
  const { taken, url } = await collector([200])
  await opened(url, { isCompressed: true }).send(data, 1_000)
  expect(taken[0]?.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(taken[0]?.bytes as Buffer)).toEqual(Buffer.from(data))
})

test('a retryable status is retried', async () => {
  const { taken, url } = await collector([503, 200])
  expect(await opened(url).send(data, 5_000)).toEqual({ status: 'success' })
  expect(taken.map(({ bytes }) => bytes)).toEqual([Buffer.from(data), Buffer.from(data)])
})

test.each(['0', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'])(
  'Retry-After: %s does not lead to a retry without a pause',
  async (after) => {
    const { taken, url } = await collector([503], { after })
    expect(await opened(url).send(data, 300)).toMatchObject({ status: 'retryable' })
    expect(taken).toHaveLength(1)
  },
)

test.each(['5', new Date(Date.now() + 60_000).toUTCString()])(
  'Retry-After: %s leads to no retry if less time is left',
  async (after) => {
    const { taken, url } = await collector([503, 200], { after })
    const began = performance.now()
    expect(await opened(url).send(data, 4_000)).toMatchObject({ status: 'retryable' })
    expect(performance.now() - began).toBeLessThan(900)
    expect(taken).toHaveLength(1)
  },
)

test.each([400, 413, 500, 302])('status %i is not retried', async (status) => {
  const { taken, url } = await collector([status, 200])
  expect(await opened(url).send(data, 5_000)).toMatchObject({
    status: 'failure',
    error: { message: `the collector returned ${status}` },
  })
  expect(taken).toHaveLength(1)
})

test('concurrent batches are sent one after the other over one connection', async () => {
  const { taken, url, connections } = await collector([200])
  const way = opened(url)
  expect(await Promise.all([way.send(data, 1_000), way.send(data, 1_000), way.send(data, 1_000)])).toHaveLength(3)
  expect([taken.length, connections()]).toEqual([3, 1])
})

test('a collector that never responds or never reads times out, and the next batch has its own timeout', async () => {
  const { taken, url } = await collector([0, 200])
  const way = opened(url)
  expect(await way.send(data, 100)).toMatchObject({
    status: 'failure',
    error: { message: 'the collector did not accept the batch in time' },
  })
  expect(await way.send(data, 1_000)).toEqual({ status: 'success' })
  expect(taken).toHaveLength(2)
  const busy = await collector([503])
  expect(await opened(busy.url).send(data, 100)).toMatchObject({ status: 'retryable' })
})

test('a queued batch that times out is not sent', async () => {
  const { taken, url } = await collector([0, 200])
  const way = opened(url)
  const first = way.send(data, 200)
  const second = way.send(data, 50)
  expect(await second).toMatchObject({ status: 'failure' })
  expect(await first).toMatchObject({ status: 'failure' })
  expect(await way.send(data, 1_000)).toEqual({ status: 'success' })
  expect(taken).toHaveLength(2)
})

test('a refused connection fails within the timeout', async () => {
  const { url } = await collector([200])
  cleanUps.splice(0).forEach((cleanUp) => void cleanUp())
  expect(await opened(url).send(data, 1_000)).toMatchObject({ status: 'retryable', error: { code: 'ECONNREFUSED' } })
})

test('a collector is trusted only with a certificate of the configured authority', async () => {
  const authority = certify({ name: 'authority' })
  const { taken, url } = await collector([200], { secure: certify({ name: 'localhost', issuer: authority }) })
  expect(await opened(url).send(data, 1_000)).toMatchObject({ error: { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' } })
  expect(await opened(url, { tls: async () => ({ ca: authority.cert }) }).send(data, 1_000)).toEqual({ status: 'success' })
  expect(taken).toHaveLength(1)
})
