// Takes long: thousands of guesses.
/** docs/contract.md §7: unverified keys are bounded for each address and for all, and do not lock out other clients. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'

const refused = { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } }
const good = 'a-good-new-key'

let place: Passthrough
beforeEach(async () => {
  place = await startPassthrough('alpha', { sections: { server: { trustProxy: 1 }, limits: { unverified: 120 } } })
  place.alpha.reply('list', ({ headers }) => (headers.authorization?.startsWith(`Bearer ${good}`) ? undefined : refused))
})
afterEach(() => place[Symbol.asyncDispose]())

const list = (address: string, key: string | null): Promise<ReceivedResponse> =>
  place.client('A').get('/transactions', { key, headers: { 'x-forwarded-for': address } })
let guesses = 0
const guess = async (address: string): Promise<number> => (await list(address, `guess-${++guesses}`)).status
/** So many addresses guess until they are refused. */
const flood = async (network: string, addresses: number): Promise<number[]> => {
  const statuses: number[] = []
  for (let host = 1; host <= addresses; host++) {
    for (let at = 0; at < 21; at++) statuses.push(await guess(`${network}.${host}`))
  }
  return statuses
}

describe('six addresses with junk keys', () => {
  test('R22: do not lock out a good new key, and are held up themselves', async () => {
    const statuses = await flood('198.51.100', 6)
    expect(statuses.filter((status) => status === 401)).toHaveLength(120)
    expect(place.alpha.received('list')).toHaveLength(120)
    expect((await list('203.0.113.1', good)).status).toBe(200)
    expect(await guess('198.51.100.1')).toBe(429)
    // An address of which a key was just refused is one of them from then on.
    expect([await guess('203.0.113.2'), await guess('203.0.113.2')]).toEqual([401, 429])
    expect((await list('203.0.113.2', `${good}-2`)).headers).toHaveProperty('retry-after')
    expect((await list('198.51.100.1', good)).status, 'a verified key, from wherever').toBe(200)
  })

  test('R22: past five times the bound no unverified key is admitted, and every verified key is', async () => {
    expect((await list('203.0.113.1', good)).status).toBe(200)
    await flood('198.51.100', 6)
    const fresh = await Promise.all(Array.from({ length: 600 }, (_, at) => guess(`192.0.${at >> 8}.${at & 255}`)))
    expect(fresh.filter((status) => status === 401)).toHaveLength(600 - 120)
    expect((await list('203.0.113.9', `${good}-2`)).status).toBe(429)
    expect((await list('203.0.113.9', good)).status).toBe(200)
  })
})

test('R22: malformed keys count as refused ones, and never go up', async () => {
  for (let host = 1; host <= 6; host++) {
    for (let at = 0; at < 20; at++) expect((await list(`198.51.100.${host}`, 'two words')).status).toBe(401)
  }
  expect(place.alpha.received('list')).toHaveLength(0)
  expect((await list('198.51.100.7', 'two words')).status).toBe(401)
  expect((await list('198.51.100.7', 'two words')).status).toBe(429)
  expect((await list('203.0.113.1', good)).status).toBe(200)
})

test('R22: requests without a key count against their address alone', async () => {
  for (let host = 1; host <= 10; host++) {
    for (let at = 0; at < 20; at++) expect((await list(`198.51.100.${host}`, null)).status).toBe(401)
    expect((await list(`198.51.100.${host}`, null)).status).toBe(429)
  }
  expect(await guess('203.0.113.1')).toBe(401)
  expect((await list('203.0.113.1', good)).status).toBe(200)
})
