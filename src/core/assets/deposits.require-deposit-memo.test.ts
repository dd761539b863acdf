import { expect, test } from 'vitest'
import { AssetTable } from '../../domain/asset.ts'
import type { Context } from '../../domain/service.ts'
import type { Currency, Pair } from '../../domain/swap.ts'
import { createAssetNaming } from './asset-naming.ts'
import { type CachedCurrencyList, type CurrencyList, parseCurrencyList } from './currency-list.ts'
import { sharedDeposits } from './deposits.ts'

const asset = { isDefault: false, aliases: [] }
const format = (name: 'XRP' | 'ETH') => ({ format: name, checksum: [] })
const table = new AssetTable([
  {
    coin: 'XRP',
    name: 'XRP',
    assets: [
      { ...asset, name: 'XRP', code: 'XRP', coin: 'XRP', network: 'XRP', isHome: true, aliases: ['XRPL'], address: format('XRP') },
    ],
  },
  {
    coin: 'ETH',
    name: 'Ethereum',
    assets: [{ ...asset, name: 'Ethereum', code: 'ETH', coin: 'ETH', network: 'ETH', isHome: true, address: format('ETH') }],
  },
])
const naming = createAssetNaming(table, { byCode: true, networks: { byName: { XRP: 'ripple' } } }, [])

async function isShared(pair: Pair, { rows = [] as Currency[], networks = ['XRP'], usesFlags = false, address = 'anything' } = {}) {
  const list = await parseCurrencyList(rows, naming, () => {})
  const currencyList = { naming, readAvailable: async () => list, last: () => list as CurrencyList }
  const shared = sharedDeposits({ networks, usesFlags, isConfigured: false }, currencyList as unknown as CachedCurrencyList)
  return await shared.isShared(pair, {} as Context, address)
}

const row = (code: string, facts: Partial<Currency> = {}): Currency => ({ code, name: code, icon: '', ...facts })
const xrpAddress = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'

test.each([
  ['XRP', true],
  ['XRPL', true],
  ['ripple', true],
  ['ETH', false],
])('a coin that the table lacks, on the network %s: %s', async (networkFrom, expected) => {
  expect(await isShared({ codeFrom: 'RLUSD', networkFrom })).toBe(expected)
})

test.each<[string, string | undefined, boolean]>([
  [xrpAddress, undefined, true],
  [xrpAddress, 'The Ledger', true],
  [xrpAddress, 'ETH', false],
  ['0x52908400098527886E0F7030069857D2E4169EE7', undefined, false],
  ['anything', undefined, false],
])('a coin that the table lacks, with the deposit address %s on %o: %s', async (address, networkFrom, expected) => {
  expect(await isShared({ codeFrom: 'RLUSD', ...(networkFrom && { networkFrom }) }, { address })).toBe(expected)
  expect(await isShared({ codeFrom: 'RLUSD' }, { address, networks: [] })).toBe(false)
})

test('what the list says of a coin that the table lacks counts where its flags do', async () => {
  const rows = [row('EOS', { network: 'EOS', needsMemo: true }), row('NEO', { network: 'NEO' })]
  expect(await isShared({ codeFrom: 'EOS' }, { rows, usesFlags: true })).toBe(true)
  expect(await isShared({ codeFrom: 'EOS', networkFrom: 'EOS' }, { rows, usesFlags: true })).toBe(true)
  expect(await isShared({ codeFrom: 'NEO' }, { rows, usesFlags: true })).toBe(false)
  expect(await isShared({ codeFrom: 'EOS' }, { rows })).toBe(false)
})
