import { expect, it } from 'vitest'
import { type Asset, AssetTable } from '../../domain/asset.ts'
import { formB } from '../../forms/b.ts'
import { createAssetNaming } from '../assets/asset-naming.ts'
import { parseCurrencyList } from '../assets/currency-list.ts'
import { currencyRows } from './currencies.ts'

const memo = { source: '.+', matches: () => true }

function asset(network: string, rule?: Asset['memo']): Asset {
  return { code: `C${network}`, coin: 'C', network, name: 'Coin', aliases: [], isDefault: false, ...(rule && { memo: rule }) }
}

it("a network needs a memo by the table's rule, or else by the provider", async () => {
  const table = new AssetTable([
    { coin: 'C', name: 'Coin', assets: [asset('ONE', memo), asset('TWO', 'none'), asset('THREE'), asset('FOUR')] },
  ])
  const naming = createAssetNaming(table, { byCode: false, listsNetworks: true }, new Map())
  const row = (coin: string, network: string, needsMemo?: boolean) => ({ coin, network, name: coin, icon: '', needsMemo })
  const rows = [row('C', 'ONE', false), row('C', 'TWO', true), row('C', 'THREE', true), row('C', 'FOUR'), row('D', 'FIVE', true)]
  const list = { ...(await parseCurrencyList(rows, naming, () => {})), provider: 'alpha', fetchedAt: 0 }
  const coins = await currencyRows([{ list, capabilities: formB.capabilities, isOffered: true }], false)
  const needs = coins.flatMap(({ currency }) => (currency.networks ?? []).map(({ network, needsMemo }) => [network, needsMemo]))
  expect(Object.fromEntries(needs)).toEqual({ ONE: true, TWO: false, THREE: true, FOUR: undefined, FIVE: true })
})

it('a coin with other names has a row for each: the codes, or the coin with what it is called now', async () => {
  const gram: Asset = { ...asset('TON'), code: 'GRAM', coin: 'GRAM', name: 'Gram', also: [{ code: 'TON', coin: 'TON' }] }
  const table = new AssetTable([{ coin: 'GRAM', name: 'Gram', assets: [gram] }])
  const naming = createAssetNaming(table, { byCode: false, listsNetworks: true }, [])
  const rows = [{ coin: 'ton', network: 'ton', name: 'Toncoin', icon: '', notes: 'a memo' }]
  const list = { ...(await parseCurrencyList(rows, naming, () => {})), provider: 'alpha', fetchedAt: 0 }
  const lists = [{ list, capabilities: formB.capabilities, isOffered: true }]
  expect((await currencyRows(lists, true)).map(({ currency }) => [currency.code, currency.name])).toEqual([
    ['GRAM', 'Gram'],
    ['TON', 'Gram'],
  ])
  expect((await currencyRows(lists, false)).map(({ currency, texts }) => [currency.coin, currency.notes, texts[0]])).toEqual([
    ['GRAM', 'a memo', 'gram'],
    ['TON', 'now GRAM', 'ton'],
  ])
})
