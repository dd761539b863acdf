// Takes long: ten thousand guesses.
/** With issued keys guesses reveal nothing, and cost other clients nothing. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { keyBytes, makeKey } from '../../src/domain/key.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { credential, type FormName, formNames } from '../support/pair.ts'
import { openSession } from '../support/raw-session.ts'

let managed: Managed
afterEach(() => managed.close())

const mountOf = (form: FormName): string => `/${form.toLowerCase()}/api/v2`
const headerOf = (form: FormName, key: string): string =>
  Object.entries(credential(form, key))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const create = (form: FormName, key: string, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key })
const upstream = (): number => managed.alpha.journal.length + managed.beta.journal.length

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number
}

describe.each(formNames)('A1, form %s', (form) => {
  /** 10,000 over both forms. */
  const guesses = 5_000
  /** What differs in every two responses. */
  const changing = /^(?:date: .*|ratelimit: "read";r=\d+;t=\d+|x-request-id: .*)\r$/gim

  test("of 5,000 guessed ids neither a bit nor the time distinguishes another's from one that does not exist", async () => {
    managed = await startManaged({ routing: ['alpha', 'beta'] })
    const [mine, theirs] = [await managed.issue(), await managed.issue()]
    const held = await Promise.all(Array.from({ length: 20 }, () => create(form, mine).then(idOf)))
    expect(new Set(held).size).toBe(20)
    await Promise.all(held.slice(0, 10).map((id) => managed.client(form).get(`/transactions/${id}`, { key: mine })))
    managed.alpha.reset()
    await using session = await openSession(managed.gateway.port)
    const responses = new Set<string>()
    const times: [number[], number[]] = [[], []]
    for (let at = 0; at < guesses; at++) {
      const isHeld = at % 2 === 0
      const id = isHeld ? held[(at / 2) % held.length] : `alpha~tx-${100 + at}`
      const path = `${mountOf(form)}/transactions/${id}`
      const before = performance.now()
      const response = await session.sendRequest(`GET ${path} HTTP/1.1\r\nHost: gateway\r\n${headerOf(form, theirs)}\r\n`)
      times[isHeld ? 0 : 1].push(performance.now() - before)
      responses.add(response.replace(changing, '\r'))
    }
    expect([...responses]).toHaveLength(1)
    expect([...responses][0]).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/)
    expect(upstream()).toBe(0)
    // Sent in turn, two sets of unknown ids differ by 1 % themselves.
    const [others, missing] = times.map(median) as [number, number]
    expect(Math.abs(others - missing) / missing, `${others} and ${missing} ms`).toBeLessThan(0.1)
  })
})

describe('A10: guessing keys', () => {
  const wrong = 2_000

  test('2,000 wrong keys of one address: 20 are 401, the rest 429, and right keys notice nothing', async () => {
    managed = await startManaged({ sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] } } })
    const right = await managed.issue()
    const id = idOf(await create('A', right))
    managed.alpha.reset()
    const left = async (): Promise<number> => {
      const { status, headers } = await managed.client('A').get(`/transactions/${id}`, { key: right })
      expect(status).toBe(200)
      return Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1])
    }
    const before = await left()
    const calls = upstream()
    const statuses = new Map<number, number>()
    const bodies = new Set<string>()
    const guess = async (at: number): Promise<void> => {
      const form = formNames[at % 2] as FormName
      const key = at % 4 < 2 ? makeKey(randomBytes(keyBytes)) : `sg_live_${at}`
      const response = await managed.client(form).get(`/transactions/${id}`, { key })
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      if (response.status === 429) expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
      if (form === 'A' && response.status === 401) bodies.add(response.text)
    }
    for (let at = 0; at < wrong; at += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, next) => guess(at + next)))
      if (at === wrong / 2) expect(await left()).toBe(before - 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: 20, 429: wrong - 20 })
    expect(bodies.size).toBe(1)
    expect(await left()).toBe(before - 2)
    expect(upstream() - calls).toBeLessThanOrEqual(2)
  })

  test('from many addresses they are bounded together, and a right key passes from each', async () => {
    const limits = { quotes: 1_000, create: 1_000, read: 1_000, unverified: 120 }
    managed = await startManaged({
      sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, limits, server: { trustProxy: 1 } },
    })
    const right = await managed.issue()
    const from = (address: string, key: string): Promise<ReceivedResponse> =>
      managed.client('B').get('/transactions', { key, headers: { 'x-forwarded-for': address } })
    const statuses: number[] = []
    for (let host = 1; host <= 20; host++) {
      for (let at = 0; at < 10; at++) statuses.push((await from(`198.51.100.${host}`, makeKey(randomBytes(keyBytes)))).status)
      expect((await from(`198.51.100.${host}`, right)).status).toBe(200)
    }
    // Past the bound for all, the first guess of an address gets 401; from then on the address has a refused key.
    expect(statuses.filter((status) => status === 401)).toHaveLength(120 + 8)
    expect(statuses.filter((status) => status === 429)).toHaveLength(80 - 8)
    expect(upstream()).toBe(0)
  })
})
