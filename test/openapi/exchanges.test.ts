// Takes long: it waits for a failing provider.
/** S1: every exchange matches `docs/openapi/`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { statuses } from '../../src/domain/status.ts'
import { startManaged } from '../support/managed.ts'
import { type FormName, formNames, type Pair, pairs, startPair } from '../support/pair.ts'
import type { Operation, Reply } from '../support/stand-in.ts'
import { swap } from '../support/swaps.ts'
import { describedBy, expectDescribed, violations } from './described.ts'
import { orderOf, rateOf, refused, right, type Sender, sender, wrong } from './traffic.ts'

const fileOf = (form: FormName, amounts = ''): string => `docs/openapi/${form.toLowerCase()}${amounts}.json`
const baseOf = (form: FormName, url: string): string => `${url}/${form.toLowerCase()}/api/v2`
const created = (form: FormName): number => (form === 'A' ? 201 : 200)

describe.each(pairs)('S1: client $client, provider $provider', ({ client: form, provider: side }) => {
  let pair: Pair
  let base: string
  let client: Sender
  const freshClient = async (): Promise<Sender> =>
    sender(form, base, await pair.gateway.freshKey(), describedBy(fileOf(form), base, pair.witness))
  beforeAll(async () => {
    const limits = { quotes: 100_000, create: 4, read: 100_000, unverified: 100_000 }
    pair = await startPair(form, side, { sections: { limits }, provider: { timeout: 0.5, extraIds: 'unconfirmed' } })
    base = baseOf(form, pair.gateway.url)
  }, 60_000)
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
    pair.provider.holdings.swaps = [swap(), swap({ id: 'tx-2', refundAddress: null })]
    client = await freshClient()
  })
  afterAll(() => pair?.close())

  test('every valid request has a response as described', async () => {
    for (const [name, status, send] of right) {
      const response = await send(client)
      expect(response.status, `${name}: ${response.text}`).toBe(status || created(form))
      expect(violations(response, 'request'), name).toEqual([])
      expectDescribed(response, name)
    }
  })

  test('with `Prefer: amounts=text` every response is as described for that', async () => {
    const described = describedBy(fileOf(form, '-text'), base, pair.witness)
    const preferring: typeof described = {
      sendRequest: (url, { headers, ...options }) =>
        described.sendRequest(url, { ...options, headers: { ...headers, prefer: 'amounts=text' } }),
    }
    for (const [name, , send] of [...right, ...refused])
      expectDescribed(await send(sender(form, base, await pair.gateway.freshKey(), preferring)), name)
  })

  test('S6: every status is as described, in a get and in a list', async () => {
    const known = side === 'A' ? statuses : statuses.filter((status) => status !== 'confirmed' && status !== 'sending')
    for (const status of known) {
      pair.provider.holdings.swaps = [swap({ status })]
      client = await freshClient()
      for (const path of ['/transactions/alpha~tx-1', '/transactions']) {
        const response = await client.get(path)
        expect(response.status, response.text).toBe(200)
        expectDescribed(response, `${status} ${path}`)
      }
    }
  })

  test('every refusal is as described', async () => {
    for (const [name, status, send] of [...wrong, ...refused]) {
      client = await freshClient()
      const response = await send(client)
      expect(response.status, `${name}: ${response.text}`).toBe(status)
      expectDescribed(response, name)
      if (wrong.some(([bad]) => bad === name)) expect(violations(response, 'request'), name).not.toEqual([])
    }
  })

  test('so is a used-up limit', async () => {
    for (let count = 0; count < 4; count++) await client.post(orderOf(form))
    const response = await client.post(orderOf(form))
    expect(response.status).toBe(429)
    expectDescribed(response, 'limit')
  })

  const failures: readonly (readonly [Operation, Reply, number])[] = [
    ['rate', { status: 400, json: { message: 'Amount too small', code: 400 } }, 400],
    ['rate', { status: 500, json: {} }, 502],
    ['rate', { reset: true }, 502],
    ['rate', { text: 'nonsense' }, 502],
    ['rate', { json: {}, delay: 900 }, 504],
    ['create', { status: 429, json: {}, headers: { 'retry-after': '7' } }, 429],
    ['create', { reset: true }, 504],
    ['create', { json: {}, delay: 900 }, 504],
    ['get', { status: 401, json: {} }, 401],
    ['get', { status: 503, json: {} }, 502],
    ['list', { status: 404, json: {} }, 200],
  ]
  test('so is whatever becomes of a failing provider', async () => {
    for (const [operation, reply, status] of failures) {
      pair.provider.reset()
      pair.provider.reply(operation, reply)
      client = await freshClient()
      const paths: Partial<Record<Operation, string>> = {
        rate: rateOf(form),
        list: '/transactions',
        get: '/transactions/alpha~tx-1',
      }
      const path = paths[operation]
      const response = path === undefined ? await client.post(orderOf(form)) : await client.get(path)
      expect(response.status, `${operation}: ${response.text}`).toBe(status)
      expectDescribed(response, `${operation} ${status}`)
    }
  })

  test('a create of unknown outcome is 504, and 409 under its key', async () => {
    pair.provider.reply('create', { reset: true })
    const headers = { 'idempotency-key': 'order-3' }
    for (const status of [504, 409]) {
      const response = await client.post(orderOf(form), { headers })
      expect(response.status, response.text).toBe(status)
      expectDescribed(response, String(status))
    }
  })
})

describe.each(formNames)('S1: client %s with a key of the gateway', (form) => {
  test('S3: a last known state and a provider that can take no more are as described', async () => {
    await using managed = await startManaged({
      routing: [form === 'A' ? 'beta' : 'alpha'],
      sections: { ledger: { refreshAfter: 0 } },
    })
    const base = baseOf(form, managed.gateway.url)
    const client = sender(form, base, await managed.issue(), describedBy(fileOf(form), base, managed.witness))
    const provider = form === 'A' ? managed.beta : managed.alpha
    const swapped = await client.post(orderOf(form), { headers: { 'idempotency-key': 'order-1' } })
    const { id } = swapped.json as { readonly id: string }
    for (const operation of ['get', 'rate', 'create'] as const) provider.reply(operation, { status: 429, json: {} })
    const list = await client.get('/transactions')
    const stale = await client.get(`/transactions/${id}`)
    const refusedRate = await client.get(rateOf(form))
    const refusedCreate = await client.post(orderOf(form))
    const responses = [swapped, list, stale, refusedRate, refusedCreate]
    expect(responses.map(({ status }) => status)).toEqual([created(form), 200, 200, 503, 503])
    expect(stale.headers).toHaveProperty('x-swap-stale')
    for (const { headers } of [refusedRate, refusedCreate]) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
    for (const response of responses) expectDescribed(response, response.text)
  }, 60_000)
})

describe('what it would notice', () => {
  const mistakes: readonly (readonly [string, (text: string) => string])[] = [
    ['a field of another name', (text) => text.replaceAll('"maxAmount"', '"mostAmount"')],
    ['a field of another type', (text) => text.replaceAll('"type": "number"', '"type": "string"')],
    ['a status that is not there', (text) => text.replaceAll('"200": {', '"202": {')],
    ['a header of another type', (text) => text.replace(/("RateLimit": \{[^}]*?"schema": \{\s*"type": )"string"/, '$1"integer"')],
  ]
  test.each(mistakes)(
    '%s',
    async (_, change) => {
      const directory = mkdtempSync(join(tmpdir(), 'swapgate-openapi-'))
      const file = join(directory, 'a.json')
      const text = readFileSync(fileOf('A'), 'utf8')
      writeFileSync(file, change(text))
      expect(change(text)).not.toBe(text)
      const pair = await startPair('A', 'A')
      const base = baseOf('A', pair.gateway.url)
      const client = sender('A', base, 'k', describedBy(file, base, pair.witness))
      expect(violations(await client.get(rateOf('A')), 'response')).not.toEqual([])
      await pair.close()
      rmSync(directory, { recursive: true })
    },
    60_000,
  )
})
