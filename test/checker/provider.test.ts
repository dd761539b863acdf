import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { digits } from '../support/json.ts'
import { assets } from '../support/swaps.ts'
import { credential, pairWords } from './customer.ts'
import { type Applied, type Journal, readJournal } from './provider/journal.ts'
import { type Provider, startProvider } from './provider.ts'
import { spawnProvider } from './provider-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-faults-'))
afterAll(() => rmSync(directory, { recursive: true }))

const places = { 'in this process': startProvider, 'in its own process': spawnProvider }
const cases = (['A', 'B'] as const).flatMap((form) => Object.entries(places).map(([place, start]) => ({ form, place, start })))

describe.each(cases)('a provider of Form $form $place', ({ form, start }) => {
  const journal = join(directory, 'journal')
  let provider: Provider
  beforeAll(async () => {
    provider = await start({ form, name: 'alpha', keys: ['key-1', 'key-2'], journal })
  })
  beforeEach(() => writeFileSync(journal, ''))
  afterEach(() => provider.heal())
  afterAll(() => provider[Symbol.asyncDispose]())

  const at = (path: string, key: string): Promise<ReceivedResponse> =>
    sendRequest(provider.url, { path: `/api/v2${path}`, headers: credential(form, key) })
  const create = (facts: object = {}, { key = 'key-1', from = assets.btc as typeof assets.btc | typeof assets.xrp } = {}) => {
    const words = pairWords(form, { from, to: assets.usdtTrx })
    const body = JSON.stringify({ ...words, amount: digits('0.10'), withdrawalAddress: 'TWithdraw1', ...facts })
    return sendRequest(provider.url, { method: 'POST', path: '/api/v2/transactions', headers: credential(form, key), body })
  }
  const entries = <What extends Journal[number]['what']>(what: What) =>
    readJournal(journal).filter((entry) => entry.what === what) as Extract<Journal[number], { what: What }>[]
  const applied = (): readonly Applied[] => entries('applied')
  const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id

  it('creates, and writes the journal before it responds', async () => {
    const response = await create({ refundAddress: 'bc1q-refund' })
    expect(response.status).toBe(form === 'A' ? 201 : 200)
    const [{ key, swap } = { key: '', swap: {} }] = applied()
    expect(key).toBe('key-1')
    expect(swap).toMatchObject({
      id: idOf(response),
      from: assets.btc,
      to: assets.usdtTrx,
      amount: '0.10',
      refundAddress: 'bc1q-refund',
    })
    expect(response.text).toContain((swap as Applied['swap']).depositAddress)
    expect(entries('received')).toMatchObject([
      { operation: 'create', path: '/api/v2/transactions', headers: credential(form, 'key-1') },
    ])
    expect(entries('responded')).toMatchObject([{ ending: response.status }])
  })

  it('gives each its own id and address, and a memo if the coin needs one', async () => {
    const responses = [await create(), await create({}, { from: assets.xrp })]
    const [first, second] = applied().map(({ swap }) => swap)
    expect(new Set([first?.id, second?.id, first?.depositAddress, second?.depositAddress]).size).toBe(4)
    expect(first?.depositExtraId).toBeUndefined()
    const memo = form === 'A' ? 'depositExtraId' : 'deposit_extra_id'
    expect(responses[1]?.json).toMatchObject({ [memo]: second?.depositExtraId })
  })

  it('keeps the swaps of each key apart, and takes no other key', async () => {
    const id = idOf(await create({}, { key: 'key-2' }))
    expect((await at('/transactions', 'key-2')).text).toContain(id)
    expect((await at('/transactions?size=100', 'key-1')).text).not.toContain(`"${id}"`)
    expect((await at(`/transactions/${id}`, 'key-2')).status).toBe(200)
    expect((await at(`/transactions/${id}`, 'key-1')).status).toBe(404)
    expect((await create({}, { key: 'key-3' })).status).toBe(401)
    expect(applied()).toHaveLength(1)
  })

  it('serves its coins and rates without a key, in pages', async () => {
    expect((await sendRequest(provider.url, { path: '/api/v2/currencies?size=2&page=2' })).json).toMatchObject({ data: [{}, {}] })
    expect((await sendRequest(provider.url, { path: '/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=1' })).status).toBe(200)
  })

  it.each(['coinFrom', 'amount', 'withdrawalAddress'])('refuses a create without %s', async (field) => {
    const response = await create({ [field]: undefined })
    expect([response.status, response.json]).toMatchObject([400, { message: `Invalid ${field} parameter`, code: digits('400') }])
    expect(applied()).toEqual([])
  })

  it('gives a swap the configured status', async () => {
    const id = idOf(await create())
    await provider.change(id, { status: 'exchanging' })
    expect((await at(`/transactions/${id}`, 'key-1')).json).toMatchObject({ status: 'exchanging' })
  })

  it.each(['reset', 'fin', 'half'] as const)('breaks the connection after it created: %s', async (after) => {
    await provider.fault({ after })
    await expect(create()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(applied()).toHaveLength(1)
    expect(entries('responded')).toMatchObject([{ ending: after }])
  })

  it('hangs after it created', async () => {
    await provider.fault({ after: 'hang' })
    const response = create().catch(() => undefined)
    await expect.poll(() => entries('responded')).toMatchObject([{ ending: 'hang' }])
    expect(applied()).toHaveLength(1)
    expect(await Promise.race([response, at('/transactions', 'key-1').then(() => 'still')])).toBe('still')
  })

  it.each([500, 503] as const)('responds %i after it created', async (after) => {
    await provider.fault({ after, message: 'Overloaded' })
    const response = await create()
    expect([response.status, response.json]).toMatchObject([after, { message: 'Overloaded', code: digits(String(after)) }])
    expect(applied()).toHaveLength(1)
  })

  it.each([400, 401, 422, 429, 503, 'reset'] as const)('refuses before it creates: %s', async (before) => {
    await provider.fault({ before })
    expect(
      await create().then(
        ({ status }) => status,
        () => 'reset',
      ),
    ).toBe(before)
    expect(applied()).toEqual([])
  })

  it('responds with text that is not JSON', async () => {
    await provider.fault({ operation: 'rate', after: 'garbage' })
    const response = await fetch(`${provider.url}/rate`)
    expect([response.status, await response.text()]).toEqual([200, '<html>It works!</html>'])
  })

  const another = expect.stringMatching(/^another-/)
  const expectedRow = {
    coinFrom: { A: { coinFrom: 'ETH' }, B: { coin_from: 'ETH' } },
    coinTo: { A: { coinTo: 'BTC' }, B: { coin_to: 'BTC' } },
    networkTo: { A: { coinTo: 'USDTERC20' }, B: { network_to: 'ETH' } },
    withdrawalAddress: { A: { withdrawalAddress: another }, B: { withdrawal_address: another } },
    refundAddress: { A: { refundAddress: another }, B: { refund_address: another } },
    rateType: { A: { rateType: 'fixed' }, B: { rate_type: 'fixed' } },
    amount: { A: { amount: digits('10.10') }, B: { amount_in: digits('10.10') } },
  } as const
  it.each(Object.keys(expectedRow) as (keyof typeof expectedRow)[])('reports another %s than the stored one', async (swap) => {
    const id = idOf(await create())
    await provider.fault({ swap, operation: 'get' })
    expect((await at(`/transactions/${id}`, 'key-1')).json).toMatchObject(expectedRow[swap][form])
    expect((await at(`/transactions/${id}`, 'key-1')).json).not.toMatchObject(expectedRow[swap][form])
  })

  it('gives an id again', async () => {
    const id = idOf(await create())
    await provider.fault({ repeat: id })
    expect(idOf(await create({}, { key: 'key-2' }))).toBe(id)
    expect(applied().map(({ swap }) => swap.id)).toEqual([id, id])
  })

  it('responds late, and fails only the chosen requests, the chosen number of times', async () => {
    await provider.fault({ having: 'TMeant', before: 422, delay: 30, times: 2 })
    expect((await create()).status).toBeLessThan(300)
    const began = performance.now()
    const statuses = [await create({ withdrawalAddress: 'TMeant' }), await create({ withdrawalAddress: 'TMeant' })].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([422, 422])
    expect(performance.now() - began).toBeGreaterThan(58)
    expect((await create({ withdrawalAddress: 'TMeant' })).status).toBeLessThan(300)
  })
})
