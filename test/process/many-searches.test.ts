// Takes long: hundreds of megabytes of pages.
/** In the memory of the shipped deployments, a client that searches a long list for ever new texts harms nobody else. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { rateA } from '../support/form-a.ts'
import { ownLoad } from '../support/own-load.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const isSoak = process.env.SWAPGATE_SOAK !== undefined
const searches = isSoak ? 4_000 : 250
/** As in a container with 512 MB. */
const memory = `data:text/javascript,${encodeURIComponent('process.constrainedMemory = () => 512 * 1024 * 1024')}`
const alphabet = 'abcdefghijklmnopqrstuvwxyz'
const icon = `data:image/svg+xml;base64,${'A'.repeat(15_000)}`
const rows = Array.from({ length: 900 }, (_, at) => ({
  ...{ code: `C${at}X`, name: `Coin number ${at} ${alphabet}`, icon: `${icon}${at}`, network: `N${at}` },
}))

/** In Form A, with 900 coins whose icons are in the list. */
async function startProvider() {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://provider')
    const page = Number(searchParams.get('page') ?? 1)
    const size = Number(searchParams.get('size') ?? 100)
    const list = { data: rows.slice((page - 1) * size, page * size), pagination: { page, size, total: rows.length } }
    const body = pathname.endsWith('/currencies') ? list : rateA(searchParams)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`, close: () => server.closeAllConnections() }
}

/** Each text is in the name of every coin. */
const texts = Array.from(alphabet).flatMap((_, start) =>
  Array.from(alphabet.slice(start), (_letter, length) => alphabet.slice(start, start + length + 1)),
)

/** All differ, and have 95 to 100 rows. */
function pathOf(number: number): string {
  const round = Math.floor(number / texts.length)
  return `/currencies?search=${texts[number % texts.length]}&page=${(round % 9) + 1}&size=${100 - Math.floor(round / 9)}`
}

test('V31: thousands of searches of one client leave the quotes of others as they are', { timeout: 600_000 }, async () => {
  const provider = await startProvider()
  using directory = new ConfigDirectory()
  const file = directory.write(`
server: { port: 0, shutdownDelay: 0, trustProxy: 1 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "${provider.url}", rateLimit: { quotes: 0 } } }
auth: { mode: passthrough }
routing: { providers: [alpha] }
limits: { quotes: 100000 }
cache: { rate: 0 }
ledger: { url: "sqlite::memory:" }
`)
  await using swapgate = new Swapgate(['start', '--config', file], {
    env: { NODE_OPTIONS: `--max-old-space-size=256 --import=${memory} ${ownLoad}` },
  })
  const urls = await swapgate.urls()
  const get = (path: string, address: string) =>
    sendRequest(urls.get('gateway') ?? '', { path: `/a/api/v2${path}`, headers: { 'x-forwarded-for': address } })
  for (let at = 0; at < searches; at++) {
    const found = await get(pathOf(at), '192.0.2.1')
    expect(found.status, `${at}`).toBe(200)
    if (at % 10 > 0) continue
    const quote = await get(`/rate?coinFrom=C1X&coinTo=C2X&amount=${1 + at / searches}&rateType=float`, '192.0.2.2')
    expect(quote.status, `${at}`).toBe(200)
  }
  const metrics = await (await fetch(`${urls.get('admin')}/metrics`)).text()
  const sumOf = (name: string): number =>
    [...metrics.matchAll(new RegExp(`^swapgate_cache_${name}\\{.*\\} (\\S+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    )
  expect(sumOf('bytes')).toBeGreaterThan(10_000_000)
  expect(sumOf('bytes')).toBeLessThanOrEqual(sumOf('max_bytes'))
  expect(sumOf('max_bytes')).toBeLessThanOrEqual(512 * 1024 * 256)
  expect(sumOf('evictions_total')).toBeGreaterThan(searches / 2)
  provider.close()
})
