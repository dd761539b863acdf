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
