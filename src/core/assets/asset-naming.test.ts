import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type Asset, AssetTable } from '../../domain/asset.ts'
import { createAssetNaming } from './asset-naming.ts'

const asset = (code: string, network: string, aliases: readonly string[]): Asset => {
  return { code, coin: 'USDT', network, name: 'Tether', aliases, isDefault: false }
}
const ethereum = asset('USDTERC20', 'ETH', ['erc20'])
const tron = asset('USDTTRC20', 'TRX', ['TRC20', 'trx'])
const twin = asset('USDTTWIN', 'Tron', ['trc20'])
const table = new AssetTable([{ coin: 'USDT', name: 'Tether', assets: [ethereum, tron, twin] }])
const own = new Map([['USDTTRC20', { coin: 'Tether', network: 'T' }]])

describe('a network', () => {
  it.each([
    ['usdt', 'eth', ethereum],
    ['USDT', 'ERC20', ethereum],
    ['USDT', 'tron', twin],
    ['USDT', 'BSC', undefined],
    ['ETH', 'ETH', undefined],
  ])('of %s is found by name or alias in any case: %s', (coin, network, found) => expect(table.find(coin, network)).toBe(found))

  it('that two assets are on is that of the first', () => expect(table.find('USDT', 'trc20')).toBe(tron))
})

describe("a provider's name for an asset", () => {
  const { assetsNamed: meanings } = createAssetNaming(table, { byCode: false }, own)
  it.each([
    ['tether', 't', [tron]],
    ['Tether', 'trc20', [tron]],
    ['Tether', 'ETH', []],
    ['USDT', 'trc20', [twin]],
    ['USDT', 'erc20', [ethereum]],
    ['USDT', 'T', []],
    ['USDT', undefined, [ethereum, twin]],
  ])('are its own, or the name or alias of its network: %s on %s', (coin, network, expected) =>
    expect(meanings({ coin, network })).toEqual(expected),
  )

  it('mean each asset that fits', () => {
    expect(createAssetNaming(table, { byCode: false }, new Map()).assetsNamed({ coin: 'USDT', network: 'TRC20' })).toEqual([
      tron,
      twin,
    ])
  })
})

it('words for networks that the table lacks are not kept', () => {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  const { assetsWithContract } = createAssetNaming(table, { byCode: false }, [])
  const ask = (from: number): void => {
    for (let at = from; at < from + 5_000; at++) {
      const word = JSON.parse(JSON.stringify(`${at}${'x'.repeat(2_000)}`))
      assetsWithContract(word, '0x1')
      table.tokenAt('0x1', word)
    }
    gc()
  }
  ask(0)
  const before = getHeapStatistics().used_heap_size
  ask(10_000)
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(4_000_000)
})
