import { expect, test } from 'vitest'
import { noLists } from '../../test/support/no-lists.ts'
import { type Asset, AssetTable } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Context } from '../domain/operations.ts'
import type { Currency } from '../domain/swap.ts'
import { formA } from '../forms/a.ts'
import { type Catalogue, catalogue } from './catalogue.ts'
import { answers } from './layer.ts'
import { naming } from './naming.ts'

const asset = (code: string, network: string): Asset => ({
  code,
  network,
  coin: 'USDT',
  name: 'Tether',
  aliases: [],
  isStandard: false,
})
const onEth = asset('USDT', 'ETH')
const onBsc = asset('USDTBSC', 'BSC')
const table = new AssetTable([{ coin: 'USDT', name: 'Tether', assets: [onEth, onBsc] }])
const context: Context = {
  requestId: 'request',
  caller: { address: '192.0.2.1' },
  client: formA.vocabulary,
  deadline: performance.now() + 60_000,
}

/** A provider whose list is each of `lists` in turn; undefined is a list that cannot be read. */
function listing(lists: readonly (readonly Currency[] | undefined)[], lifetime = 0): { kept: Catalogue; readings: () => number } {
  let readings = 0
  const unasked = async (): Promise<never> => {
    throw new Fault('internal', 'not asked in this test')
  }
  const service = answers({
    getRate: unasked,
    createTransaction: unasked,
    listTransactions: unasked,
    getTransaction: unasked,
    async listCurrencies() {
      const items = lists[Math.min(readings++, lists.length - 1)]
      if (!items) throw new Fault('failed', 'the provider is down')
      return { body: { items, total: items.length } }
    },
  })
  const kept = catalogue({
    service,
    naming: naming(table, true, new Map()),
    said: formA.vocabulary,
    lists: noLists,
    source: { provider: 'alpha', url: 'http://127.0.0.1/a/api/v2', form: 'A' },
    lifetime,
    staleFor: 60_000,
    timeout: 1_000,
    drift: () => {},
    looked: () => {},
  })
  return { kept, readings: () => readings }
}

const row = (code: string, network: string): Currency => ({ code, network, name: 'Tether', icon: 'i' })

test('a word that the provider has on another network alone is in doubt for the asset of the table', async () => {
  const { offers, doubtful } = await listing([[row('USDT', 'BSC')]]).kept.listing(context)
  expect(offers.map((offer) => offer.asset)).toEqual([onBsc])
  expect([...doubtful]).toEqual([onEth])
})

test('a word that is listed on its own network too is not in doubt', async () => {
  const { doubtful } = await listing([[row('USDT', 'ETH'), row('USDTBSC', 'BSC')]]).kept.listing(context)
  expect(doubtful.size).toBe(0)
})

test('a list that has just failed is not asked for again to confirm what the table says', async () => {
  const { kept, readings } = listing([undefined])
  expect([await kept.listingAtHand(context), await kept.listingAtHand(context)]).toEqual([undefined, undefined])
  expect(readings()).toBe(1)
})

test('an old list serves while the provider fails, and is not asked for at once again', async () => {
  const { kept, readings } = listing([[row('USDT', 'ETH')], undefined])
  const first = await kept.listing(context)
  expect(await kept.listing(context)).toBe(first)
  expect(await kept.listing(context)).toBe(first)
  expect(readings()).toBe(2)
})

test('many who ask at once cost one reading', async () => {
  const { kept, readings } = listing([[row('USDT', 'ETH')]], 60_000)
  await Promise.all([kept.listing(context), kept.listing(context), kept.listing(context)])
  expect(readings()).toBe(1)
})
