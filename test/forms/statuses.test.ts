/** docs/contract.md §3.7: statuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB, listedB } from '../support/form-b.ts'
import { type FormName, type Pair, pairs, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

const wordsOf: Readonly<Record<FormName, readonly string[]>> = {
  A: ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'],
  B: ['wait', 'confirmation', 'exchanging', 'success', 'overdue', 'refunded'],
}
const roundedForB: Readonly<Record<string, string>> = { confirmed: 'confirmation', sending: 'exchanging' }

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider, { provider: { statuses: { hold: 'exchanging', closed: 'success' } } })
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
  })
  afterAll(() => pair.close())

  const get = async (status: unknown) => {
    const facts = provider === 'A' ? transactionA(swap()) : detailedB(swap())
    pair.provider.reply('get', { json: { ...facts, status } })
    return pair.client.get('/transactions/alpha~tx-1', { key: await pair.gateway.freshKey() })
  }
  const list = async (status: unknown) => {
    const item = provider === 'A' ? transactionA(swap()) : listedB(swap())
    const detail = provider === 'A' ? transactionA(swap()) : detailedB(swap())
    const data = [{ ...item, status }]
    pair.provider.reply('list', {
      json: provider === 'A' ? { data, pagination: { page: 1, size: 20, total: 1 } } : { data, count: 1 },
    })
    pair.provider.reply('get', { json: { ...detail, status } })
    return pair.client.get('/transactions', { key: await pair.gateway.freshKey() })
  }
  const shown = (status: string): string => (form === 'B' ? (roundedForB[status] ?? status) : status)

  test.each(wordsOf[provider])('S6: %s is returned as far as the client form can', async (status) => {
    expect((await get(status)).json).toMatchObject({ status: shown(status) })
    expect((await list(status)).json).toMatchObject({ data: [{ status: shown(status) }] })
  })

  test("the operator's meaning of a word is taken, final ones too", async () => {
    expect((await get('hold')).json).toMatchObject({ status: 'exchanging' })
    expect((await get('closed')).json).toMatchObject({ status: 'success' })
    expect((await list('closed')).json).toMatchObject({ data: [{ status: 'success' }] })
  })

  const unknown =
    provider === 'A' ? ['finished', 'SUCCESS', 'constructor', ''] : ['finished', 'confirmed', 'sending', 'Success', '']
  test.each(unknown)(
    'the word "%s" is never made final: a get is 502, a list item leaves it out, and it is counted',
    async (status) => {
      const before = pair.gateway.observations.length
      expectRefusal(await get(status), form, 502)
      const listed = await list(status)
      expect(listed.status, listed.text).toBe(200)
      expect((listed.json as { data: object[] }).data[0]).not.toHaveProperty('status')
      expect(listed.headers['x-swap-omitted']).toContain('status')
      const counted = pair.gateway.observations
        .slice(before)
        .filter((observation) => observation.what === 'drift' && observation.drift === 'unknownStatus')
      expect(counted.length).toBeGreaterThanOrEqual(2)
    },
  )

  test.each([null, 7, true, {}, undefined])('a status of %j is not the form: 502', async (status) => {
    expectRefusal(await get(status), form, 502)
  })
})
