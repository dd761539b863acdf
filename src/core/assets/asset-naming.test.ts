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
