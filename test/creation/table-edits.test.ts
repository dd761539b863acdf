// Takes long: an edit of the table, and its reverse, at each form.
/**
 * docs/contract.md §10: what an operator edits in the asset table while a create is lost, a swap is open, or a client repeats its
 * create. A name of the table is no identity: nothing is lost, doubled, frozen, or taken for another request.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { AssetTable, type Coin } from '../../src/domain/asset.ts'
import { ledgerWarnings } from '../../src/process/warnings.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { type FormName, formNames } from '../support/pair.ts'

let managed: Managed
afterEach(() => managed.close())

const bitcoin = { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] }
const tether = (...networks: readonly object[]) => ({ coin: 'USDT', name: 'Tether', networks })
const onTron = { network: 'TRX', code: 'USDTTRC20', aliases: ['TRC20'] }
const onEthereum = { network: 'ETH', code: 'USDTERC20' }

/** The table of the create, and the one of its look. `A` and `B`: the provider's words for the asset from now on, where they differ. */
interface Edit {
  readonly before?: readonly object[]
  readonly after: readonly object[]
  readonly words?: Readonly<Record<FormName, Readonly<Record<string, unknown>>>>
}

const edits: Readonly<Record<string, Edit>> = {
  'its network is renamed, and the old name is an alias': {
    after: [bitcoin, tether({ ...onTron, network: 'TRON', aliases: ['TRX', 'TRC20'] }, onEthereum)],
  },
  'its network is renamed': { after: [bitcoin, tether({ ...onTron, network: 'TRON' }, onEthereum)] },
  'its code is renamed': { after: [bitcoin, tether({ ...onTron, code: 'USDTTRX' }, onEthereum)] },
  'its coin is renamed': { after: [bitcoin, { ...tether(onTron, onEthereum), coin: 'USDT0' }] },
  'its network is cut': { after: [bitcoin, tether(onEthereum)] },
  'its coin is cut': { after: [bitcoin] },
  'the table gets it': { before: [bitcoin], after: [bitcoin, tether(onTron, onEthereum)] },
  'it is no longer offered': {
    after: [bitcoin, tether(onTron, onEthereum)],
    words: { A: { USDTTRC20: null }, B: { USDTTRC20: null } },
  },
}
const today = [bitcoin, tether(onTron, onEthereum)]

const successOf = { A: 201, B: 200 } as const

describe.each(formNames)('a provider and a client of form %s', (form) => {
  const name = form === 'A' ? 'alpha' : 'beta'
  const start = async ({ before = today }: Edit): Promise<string> => {
    managed = await startManaged({ routing: [name], assetTable: before, sections: { ledger: { reconcileFor: 1 } } })
    return managed.issue()
  }
  const edit = ({ after, words }: Edit): void =>
    managed.reconfigure({
      routing: [name],
      assetTable: after,
      sections: { ledger: { reconcileFor: 1 } },
      ...(words && { providers: { [name]: { assets: words[form] } } }),
    })
  const create = (key: string) =>
    managed.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order-7' } })

  test.each(Object.entries(edits))('%s: its lost create is found, and its key makes no second swap', async (_, change) => {
    const key = await start(change)
    loseResponses(managed[name], { refundAddress: null })
    expectRefusal(await create(key), form, 504)
    edit(change)
    await delay(1_100)
    await lookNow(managed.gateway)
    expect(outcomesOf(managed.gateway).at(-1)).toBe('found')
    const again = await create(key)
    expect(again.status, again.text).toBe(successOf[form])
    expect(managed[name].holdings.swaps).toHaveLength(1)
  })

  test('a table that cuts an asset of open swaps says how many', async () => {
    const key = await start({ after: today })
    expect((await create(key)).status).toBe(successOf[form])
    const assetCounts = await managed.gateway.ledgerAdmin.assetCounts()
    const { config } = managed.gateway
    const warn = (rows: readonly Coin[]) => ledgerWarnings({ ...config, assets: new AssetTable(rows) }, { assetCounts })
    const { coins } = config.assets
    expect(warn(coins)).toEqual([])
    expect(warn(coins.filter(({ coin }) => coin === 'BTC'))).toEqual([
      'assets lacks USDTTRC20, which 1 open transaction or create has: they go on by the words that their provider got',
    ])
    expect(warn(coins.filter(({ coin }) => coin === 'USDT'))).toEqual([
      'assets lacks BTC, which 1 open transaction or create has: they go on by the words that their provider got',
    ])
  })

  test.each(Object.entries(edits))('%s: an open swap goes on, and a repeat is a repeat', async (_, change) => {
    const key = await start(change)
    const created = await create(key)
    expect(created.status, created.text).toBe(successOf[form])
    edit(change)
    const again = await create(key)
    expect([again.status, again.text]).toEqual([created.status, created.text])
    managed[name].holdings.swaps = managed[name].holdings.swaps.map((swap) => ({ ...swap, status: 'exchanging' }))
    const { json, headers } = await managed.client(form).get(`/transactions/${(created.json as { id: string }).id}`, { key })
    expect(json).toMatchObject({ status: 'exchanging' })
    expect(headers['x-swap-stale']).toBeUndefined()
  })
})
