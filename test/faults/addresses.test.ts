/** R4 to R6: which address a request is counted for (docs/contract.md §7), and what a client can claim about it. */
import { afterEach, expect, test } from 'vitest'
import { type Pair, rateQuery, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'
import { assets } from '../support/swaps.ts'
import { workMs } from '../support/work.ts'

const request = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })
const limits = { quotes: 2, create: 9, read: 2, unverified: 1_000 }

let pair: Pair
afterEach(() => pair.close())

const start = async (trustProxy: number, given: object = limits): Promise<void> => {
  pair = await startPair('A', 'A', { sections: { limits: given, server: { trustProxy } } })
}
/** How often a quote is admitted where the request claims these addresses, one after the other. */
async function admitted(claims: readonly string[], header = 'x-forwarded-for'): Promise<number> {
  const statuses: number[] = []
  for (const claim of claims) statuses.push((await pair.client.get(request, { headers: { [header]: claim } })).status)
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  return statuses.filter((status) => status === 200).length
}
const six = (text: (at: number) => string): readonly string[] => Array.from({ length: 6 }, (_, at) => text(at))

const headers = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'x-forwarded']
test.each(headers)('R5: without a trusted proxy nothing that %s claims is believed', async (header) => {
  await start(0)
  expect(
    await admitted(
      six((at) => (header === 'forwarded' ? `for=192.0.2.${at}` : `192.0.2.${at}`)),
      header,
    ),
  ).toBe(2)
})

test.each(headers.slice(1))('R5: behind a proxy that is trusted, %s is still not believed', async (header) => {
  await start(1)
  expect(
    await admitted(
      six((at) => (header === 'forwarded' ? `for=192.0.2.${at}` : `192.0.2.${at}`)),
      header,
    ),
  ).toBe(2)
})

test('R5: behind one trusted proxy the right-most address counts, whatever stands left of it', async () => {
  await start(1)
  expect(await admitted(six((at) => `198.51.100.${at}, 192.0.2.1`))).toBe(2)
  expect(await admitted(six((at) => `${'198.51.100.7, '.repeat(500)}203.0.113.${at}, 192.0.2.2`))).toBe(2)
  expect(await admitted(six((at) => `192.0.2.${at + 10}`))).toBe(6)
})

test('R5: behind two trusted proxies it is the second from the right', async () => {
  await start(2)
  expect(await admitted(six((at) => `198.51.100.${at}, 192.0.2.1, 10.0.0.${at}`))).toBe(2)
  expect(await admitted(six((at) => `192.0.2.${at + 10}, 10.0.0.1`))).toBe(6)
})

test('R5: several lines are one list, in their order', async () => {
  await start(1)
  const statuses: number[] = []
  for (const at of [0, 1, 2, 3]) {
    const lines = `X-Forwarded-For: 198.51.100.${at}\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close`
    statuses.push((await sendRaw(pair.gateway.port, `GET /a/api/v2${request} HTTP/1.1\r\nHost: g\r\n${lines}\r\n\r\n`)).status)
  }
  expect(statuses).toEqual([200, 200, 429, 429])
})

test('R5: a list of 1,000 entries gets a response at once', async () => {
  await start(1)
  const sendAll = async () => expect(await admitted(six(() => `${'1.1.1.1,'.repeat(1_000)}192.0.2.1`))).toBe(2)
  expect(await workMs(sendAll)).toBeLessThan(1_000)
})

const same: readonly (readonly [string, readonly string[]])[] = [
  ['one /64', six((at) => `2001:db8:1:2:${at}::${at}`)],
  [
    'one /64, however it is written',
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::', '2001:db8:1:2:0:0:1.2.3.4', '[2001:db8:1:2::9]:443'],
  ],
  ['an IPv4 address and what it is mapped to', ['192.0.2.9', '::ffff:192.0.2.9', '::FFFF:c000:209', '0:0:0:0:0:ffff:192.0.2.9']],
  ['an address with a port', ['192.0.2.9:1', '192.0.2.9:2', '192.0.2.9', '[::ffff:192.0.2.9]:3']],
  ['an address with a zone', six((at) => `fe80::1%eth${at}`)],
]
test.each(same)('R6: %s is one bucket', async (_, addresses) => {
  await start(1)
  expect(await admitted(addresses)).toBe(2)
})

test('R6: two networks, and two IPv4 clients that are mapped, are two buckets', async () => {
  await start(1)
  expect(await admitted(six((at) => `2001:db8:1:${at}::1`))).toBe(6)
  expect(await admitted(six((at) => `::ffff:192.0.2.${at}`))).toBe(6)
})

test('R6: text that is not an address gets a response', async () => {
  await start(1, { ...limits, quotes: 1_000 })
  const odd = ['nonsense', '', ',', ':::::', '::', '%', '[', '[]', '::ffff:', 'x'.repeat(2_000), '999.999.999.999', '1.2.3']
  expect(await admitted(odd)).toBe(odd.length)
})

test('R4: one key is limited over all addresses, and two keys on one address each by itself', async () => {
  await start(1)
  const [one, another] = [await pair.gateway.freshKey(), await pair.gateway.freshKey()]
  const read = async (key: string, address: string): Promise<number> =>
    (await pair.client.get('/transactions', { key, headers: { 'x-forwarded-for': address } })).status
  expect([await read(one, '192.0.2.1'), await read(one, '192.0.2.2'), await read(one, '192.0.2.3')]).toEqual([200, 200, 429])
  expect([await read(another, '192.0.2.1'), await read(another, '192.0.2.1'), await read(another, '192.0.2.1')]).toEqual([
    200, 200, 429,
  ])
})
