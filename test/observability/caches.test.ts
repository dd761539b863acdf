/** The result of each cache lookup. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { CacheName } from '../../src/domain/observation.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
beforeEach(async () => {
  managed = await startManaged({
    sections: { cache: { currencies: 600, rate: 60, staleFor: 600 } },
    steadyClock: () => performance.now(),
  })
})
afterEach(() => managed.close())

function outcomes(cache: CacheName): readonly string[] {
  const looks = managed.gateway.observations.filter((observation) => observation.what === 'cache')
  return looks
    .filter((look) => look.cache === cache)
    .map(({ outcome, ageSeconds }) => (ageSeconds === undefined ? outcome : `${outcome} with an age`))
}

test('the currency list: the first request waits, others share its call, and then it is cached', async () => {
  const listed = Promise.withResolvers<void>()
  managed.alpha.reply('currencies', { json: { data: [], pagination: { page: 1, size: 50, total: 0 } }, after: listed.promise })
  const sendRequest = () => managed.client('A').get('/currencies')
  const sendRate = () => managed.client('A').get(rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' }))
  const both = [sendRequest(), sendRequest()]
  await expect.poll(() => managed.alpha.received('currencies')).toHaveLength(1)
  await sendRate() // the second request has come before
  listed.resolve()
  await Promise.all(both)
  await sendRequest()
  expect(outcomes('currencies')).toEqual(['miss', 'shared', 'hit with an age'])
})

test('rates: shared while the call is in flight, cached while they are fresh', async () => {
  const sendRequest = (amount: string) => managed.client('B').get(rateQuery('B', { from: assets.btc, to: assets.eth, amount }))
  await sendRequest('1')
  await Promise.all([sendRequest('2'), sendRequest('2.0')])
  await sendRequest('1.00')
  expect(outcomes('rate')).toEqual(['miss', 'miss', 'shared', 'hit with an age'])
})

test('a transaction: from the ledger while it is fresh, and if the provider fails', async () => {
  await managed.close()
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  managed = await startManaged({ sections: { ledger: { url: 'sqlite::memory:', refreshAfter: 60 } } })
  const key = await managed.issue()
  const created = await managed.client('A').post('/transactions', orderIn('A'), { key })
  const { id } = created.json as { readonly id: string }
  const get = () => managed.client('A').get(`/transactions/${id}`, { key })
  await get()
  await get()
  expect(outcomes('transaction')).toEqual(['miss', 'hit with an age'])
  vi.advanceTimersByTime(61_000)
  managed.alpha.reply('get', { status: 500, json: {} })
  expect((await get()).headers['x-swap-stale']).toBeDefined()
  expect(outcomes('transaction').at(-1)).toBe('stale with an age')
})
