/** What a hostile client writes reaches neither a label nor a line of the log. */
import { mkdtempSync, rmSync } from 'node:fs'
import { METHODS } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { sendRaw } from '../support/raw.ts'
import { type LogLine, requestFields, requestLines } from './log-lines.ts'
import { Scrape } from './scrape.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-hostile-'))
const timeout = 120_000
let provider: Provider
let gateway: InProcessGateway

beforeAll(async () => {
  provider = await startProvider({ form: 'A', name: 'alpha', keys: ['known-key'], journal: join(directory, 'journal') })
  // Every request may come from another address, so that no limit of one hides what is behind it.
  gateway = await InProcessGateway.start({
    directory,
    mode: 'passthrough',
    providers: { alpha: { form: 'A', url: provider.url } },
    server: { trustProxy: 1 },
  })
})
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

const scrape = async (): Promise<Scrape> => new Scrape(await gateway.metrics())

const read: LogLine[] = []
let readLength = 0

/** Of all requests so far. Tens of thousands are not read anew each time. */
function linesSoFar(): readonly LogLine[] {
  const { output } = gateway
  const end = output.lastIndexOf('\n') + 1
  for (const line of requestLines(output.slice(readLength, end))) read.push(line)
  readLength = end
  return read
}

/** The number of lines when every request has its own, except for lost ones. */
async function linesInOrder(): Promise<number> {
  const metrics = await scrape()
  const lines = metrics.sum('swapgate_requests_total') - metrics.sum('swapgate_log_lines_dropped_total')
  await expect.poll(() => linesSoFar().length).toBe(lines)
  return lines
}

const methods = METHODS.filter((method) => method !== 'CONNECT')
const mounts = ['/a/api/v2', '/b/api/v2', '/api/v2', '']
/** Of a word that is not used yet. */
const paths: readonly ((word: string) => string)[] = [
  (word) => `/${word}`,
  (word) => `/transactions/${word}/${word}`,
  (word) => `/rate?coinFrom=${word}&coinTo=XRP&amount=1`,
  (word) => `/rate?${word}=1`,
  (word) => `/currencies?search=${word}`,
  (word) => `/currencies?page=${word}`,
  (word) => `/transactions?dateFrom=${word}`,
  (word) => `/transactions/${word}~${word}`,
  (word) => `/transactions/alpha~${word}`,
]
const headers: readonly ((word: string) => Record<string, string>)[] = [
  () => ({}),
  (word) => ({ host: `${word}.example`, 'user-agent': word }),
  (word) => ({ authorization: `Bearer ${word}` }),
  (word) => ({ 'x-api-key': word, 'x-request-id': word }),
  (word) => ({ 'x-swap-form': word }),
]

/** The same kinds in the same order; only the words differ. */
function send(number: number): Promise<ReceivedResponse> {
  const word = `w${number.toString(36)}x${((number * 2_654_435_761) >>> 0).toString(36)}`
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const at = <T>(list: readonly T[], divisor: number): T => list[Math.floor(number / divisor) % list.length] as T
  const path = at(paths, 1)
  const header = at(headers, paths.length)
  const mount = at(mounts, paths.length * headers.length)
  const method = at(methods, paths.length * headers.length * mounts.length)
  return sendRequest(gateway.url, { method, path: mount + path(word), headers: { ...header(word), 'x-forwarded-for': address } })
}

async function sendAll(from: number, to: number): Promise<number> {
  let next = from
  let responseCount = 0
  const work = async (): Promise<void> => {
    while (next < to) if ((await send(next++)).status >= 200) responseCount++
  }
  await Promise.all(Array.from({ length: 32 }, work))
  return responseCount
}

async function warmUp(from: number, kinds: number): Promise<number> {
  expect(await sendAll(from, from + kinds)).toBe(kinds)
  return from + kinds
}

/** What a busy machine sheds, and what the gateway does with its ledger each minute, is no client's doing. */
function ownDoing({ series }: Scrape): readonly string[] {
  return series.filter((line) => !line.includes('limit_overload') && !line.startsWith('swapgate_ledger_duration_seconds'))
}

describe('O4', { timeout }, () => {
  it('10,000 strange methods, paths, hosts, keys and coins add no series', async () => {
    const kinds = paths.length * headers.length * mounts.length * methods.length
    let first = await warmUp(0, kinds)
    let before = await scrape()
    // Each kind is there when one more round of all kinds brings nothing new.
    for (let round = 0, series: readonly string[] = []; round < 4 && series.join() !== ownDoing(before).join(); round++) {
      series = ownDoing(before)
      first = await warmUp(first, kinds)
      before = await scrape()
    }
    const headersBefore = before.sum('swapgate_requests_total')
    expect(await sendAll(first, first + 10_000)).toBe(10_000)
    const after = await scrape()
    expect(after.sum('swapgate_requests_total') - headersBefore).toBe(10_000)
    expect(ownDoing(after)).toEqual(ownDoing(before))
    expect(after.series.length).toBeLessThan(6_000)
    expect(Object.keys(after.by('http_server_request_duration_seconds_count', 'http_request_method'))).toContain('_OTHER')
  })

  it('unknown methods are all one', async () => {
    const { port } = new URL(gateway.url)
    const before = await scrape()
    for (const method of ['BREW', 'WHEN', 'x'.repeat(60)]) {
      expect((await sendRaw(Number(port), `${method} /a/api/v2/rate HTTP/1.1\r\nHost: x\r\n\r\n`)).status).toBe(405)
    }
    const others = (metrics: Scrape) =>
      metrics.sum('http_server_request_duration_seconds_count', { http_request_method: '_OTHER', http_route: '/a/api/v2/rate' })
    expect(others(await scrape()) - others(before)).toBe(3)
  })
})

describe('O2', () => {
  const evil = [
    '%0d%0a{"level":"fatal"}',
    '%1b[31mred%1b[0m',
    '"}],"injected":"yes',
    '%00%07%08',
    '%E2%80%A8%E2%80%A9',
    'x'.repeat(7_000),
  ]

  it('each request is one line of JSON, with nothing in it that a client wrote', async () => {
    const lineCount = await linesInOrder()
    for (const word of evil) {
      const encoded = encodeURI(decodeURI(word).replaceAll('\0', '%00')).replaceAll('%25', '%')
      await sendRequest(gateway.url, {
        path: `/a/api/v2/transactions/alpha~${encoded}`,
        headers: { authorization: 'Bearer known-key' },
      })
      await sendRequest(gateway.url, {
        path: `/a/api/v2/rate?coinFrom=${encoded}&coinTo=XRP&amount=1`,
        headers: { 'user-agent': word },
      })
      await sendRequest(gateway.url, {
        method: 'POST',
        path: '/b/api/v2/transactions',
        headers: { 'content-type': 'application/json', 'x-api-key': 'known-key', 'idempotency-key': word.slice(0, 300) },
        body: JSON.stringify({ coinFrom: decodeURI(word), withdrawalAddress: word }),
      })
    }
    const requestCount = evil.length * 3
    await expect.poll(() => linesSoFar().length).toBe(lineCount + requestCount)
    const lines = linesSoFar().slice(lineCount)
    for (const line of lines) expect(Object.keys(line).filter((field) => !requestFields.has(field))).toEqual([])
    const text = JSON.stringify(lines)
    for (const trace of ['injected', 'fatal', '[31m', '\\u001b', '\\u2028', 'xxxx']) expect(text).not.toContain(trace)
    expect(Math.max(...lines.map((line) => JSON.stringify(line).length))).toBeLessThan(600)
  })
})

describe('O7', () => {
  const own = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
  it.each([
    ['a good one is kept', 'order-7.retry_2', (id: string) => id === 'order-7.retry_2'],
    ['128 characters are kept', 'i'.repeat(128), (id: string) => id === 'i'.repeat(128)],
    ['129 are not', 'i'.repeat(129), (id: string) => own.test(id)],
    ['1 kB is not', 'i'.repeat(1_024), (id: string) => own.test(id)],
    ['one with a line break in it is not', 'a%0d%0ab', (id: string) => own.test(id)],
    ['one with quotes is not', 'a"b', (id: string) => own.test(id)],
  ])('%s, and the response, its error and the log have the same', async (_, sent, isRight) => {
    const lineCount = await linesInOrder()
    const { headers: headersBefore } = await sendRequest(gateway.url, {
      path: '/a/api/v2/nowhere',
      headers: { 'x-request-id': sent },
    })
    expect(headersBefore['x-request-id']).toSatisfy(isRight)
    await expect.poll(() => linesSoFar().length).toBe(lineCount + 1)
    expect(linesSoFar().at(-1)).toMatchObject({
      request_id: headersBefore['x-request-id'],
      error_type: 'caller_not_found',
    })
  })
})
