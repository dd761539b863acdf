// Takes long: `SWAPGATE_FUZZ` sets the seconds.
/** Row V26: for any bytes of a client, the gateway responds in a form, an error has its reason, and none is 500. */
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { test as base, expect } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type RunningGateway, startGateway } from '../support/gateway.ts'
import { swap } from '../support/swaps.ts'
import { mutated, mutatedJson } from './bytes.ts'
import { expectInForm } from './received.ts'
import { type Series, seriesOf } from './series.ts'
import { fuzz, timeout } from './watch.ts'

interface Rig {
  readonly provider: ProviderA
  readonly gateway: RunningGateway
  readonly series: Series
}

/** Each test has a gateway of its own: they mostly wait, and so they run side by side. */
const test = base.extend<{ rig: Rig }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used from the pattern.
  rig: async ({}, use) => {
    const provider = await startFormA()
    provider.holdings.swaps = [swap()]
    const gateway = await startGateway({ provider: { form: 'A', url: provider.url, timeout: 1 } })
    await use({ provider, gateway, series: seriesOf(gateway) })
    await gateway.close()
    await provider.close()
  },
})

const key = 'Authorization: Bearer canary-client-key-1\r\n'
const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 1, withdrawalAddress: 'w-1', refundAddress: 'r-1', rateType: 'float' }

/** What comes back until the connection ends, or for a moment. */
async function exchange(text: string, { port }: RunningGateway): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(Buffer.from(text, 'latin1'))
  const timer = setTimeout(() => socket.destroy(), 300)
  await closed
  clearTimeout(timer)
  return Buffer.concat(chunks).toString('latin1')
}

/** Several at a time, since an unfinished request is waited for. */
async function expectResponses(texts: readonly string[], { gateway, series, provider }: Rig): Promise<void> {
  const responses = await Promise.all(texts.map((text) => exchange(text, gateway)))
  for (const [at, response] of responses.entries()) expectInForm(response, texts[at] ?? '')
  series.count()
  forgetRequests(provider)
}

/** What the stand-in keeps is not what is looked at, and would grow with every run. */
function forgetRequests({ holdings, journal, recorder }: ProviderA): void {
  journal.length = 0
  holdings.removed = (holdings.removed ?? 0) + holdings.swaps.length
  holdings.swaps = [swap()]
  recorder.forget()
}

/** More than all combinations of the labels' closed lists that these requests reach. */
const maxSeries = 4_000

async function fuzzRequests(requests: fc.Arbitrary<string[]>, rig: Rig): Promise<void> {
  await fuzz(requests, (texts) => expectResponses(texts, rig))
  const number = await rig.series.number()
  console.info({ series: number })
  expect(number).toBeLessThan(maxSeries)
}

const batch = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(arbitrary, { minLength: 1, maxLength: 24 })

const paths = [
  '/a/api/v2/transactions/alpha~tx-1',
  '/b/api/v2/currencies',
  '/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=1',
  '/',
  '*',
]
const head = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'CONNECT', 'get', ''),
    path: fc.constantFrom(...paths),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''),
    headers: fc.array(
      fc.constantFrom(
        'Host: gateway',
        key.trim(),
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        'Expect: 100-continue',
        'Upgrade: h2c',
        'Connection: close',
        'X-Swap-Form: b',
        `A:${' '.repeat(4_000)}\x01`,
        `X-${'a'.repeat(9_000)}: 1`,
        'Idempotency-Key: "a"',
        ': no name',
      ),
      { maxLength: 6 },
    ),
  })
  .map(({ method, path, version, headers }) => `${method} ${path} ${version}\r\nHost: gateway\r\n${headers.join('\r\n')}\r\n\r\n`)

test.concurrent('V26: heads', { timeout }, async ({ rig }) => {
  await fuzzRequests(batch(head.chain(mutated)), rig)
})

const post = (body: string): string => {
  const bytes = Buffer.from(body, 'utf8')
  const lines = `Host: gateway\r\n${key}Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`
  return `POST /a/api/v2/transactions HTTP/1.1\r\n${lines}${bytes.toString('latin1')}`
}

test.concurrent('V26: bodies', { timeout }, async ({ rig }) => {
  const bodies = fc.oneof(mutatedJson(order), mutated(JSON.stringify(order)), fc.string({ unit: anyCharacter, maxLength: 200 }))
  await fuzzRequests(batch(bodies.map(post)), rig)
})

const targets = [
  '/a/api/v2/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=1&rateType=fixed',
  '/b/api/v2/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=1',
  '/a/api/v2/currencies?page=1&size=50&search=btc',
  '/b/api/v2/transactions?page=1&size=20&dateFrom=2026-01-01&dateTo=2026-02-01T00:00:00Z',
  '/a/api/v2/transactions/alpha~tx-1',
  '/api/v2/transactions/alpha~tx-1?x=1',
  '/native/alpha/orders/1?x=1',
  '/a/openapi.json',
]

test.concurrent('V26: queries and paths', { timeout }, async ({ rig }) => {
  const target = fc.constantFrom(...targets).chain(mutated)
  const request = target.map((text) => {
    const path = text.replace(/[\r\n ]/g, '')
    const credential = path.startsWith('/b') ? 'X-API-Key: canary-client-key-1\r\n' : key
    return `GET ${Buffer.from(path, 'utf8').toString('latin1')} HTTP/1.1\r\nHost: gateway\r\n${credential}Connection: close\r\n\r\n`
  })
  await fuzzRequests(batch(request), rig)
})
