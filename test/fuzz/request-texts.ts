/** Requests that are almost what they should be, as the bytes of a connection (Latin-1). Those with a key have this one. */
import * as fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import { mutated, mutatedJson } from './bytes.ts'

export const fuzzedKey = 'canary-client-key-1'
const key = `Authorization: Bearer ${fuzzedKey}\r\n`
const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 1, withdrawalAddress: 'w-1', refundAddress: 'r-1', rateType: 'float' }

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

export const fuzzedHeads: fc.Arbitrary<string> = head.chain(mutated)

const post = (body: string): string => {
  const bytes = Buffer.from(body, 'utf8')
  const lines = `Host: gateway\r\n${key}Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`
  return `POST /a/api/v2/transactions HTTP/1.1\r\n${lines}${bytes.toString('latin1')}`
}

export const fuzzedBodies: fc.Arbitrary<string> = fc
  .oneof(mutatedJson(order), mutated(JSON.stringify(order)), fc.string({ unit: anyCharacter, maxLength: 200 }))
  .map(post)

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

export const fuzzedTargets: fc.Arbitrary<string> = fc
  .constantFrom(...targets)
  .chain(mutated)
  .map((text) => {
    const path = text.replace(/[\r\n ]/g, '')
    const credential = path.startsWith('/b') ? `X-API-Key: ${fuzzedKey}\r\n` : key
    return `GET ${Buffer.from(path, 'utf8').toString('latin1')} HTTP/1.1\r\nHost: gateway\r\n${credential}Connection: close\r\n\r\n`
  })
