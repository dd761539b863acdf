/** docs/contract-operators.md §9: rows with contracts, for both manners of naming assets. */
import { describe, expect, test } from 'vitest'
import { type Asset, AssetTable } from '../../domain/asset.ts'
import type { Drift } from '../../domain/observation.ts'
import type { Currency } from '../../domain/swap.ts'
import { type ConfiguredNames, createAssetNaming } from './asset-naming.ts'
import { parseCurrencyList } from './currency-list.ts'

const native = '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'
const bridged = '0x7F5c764cBc14f9669B88837ca1490cCa17c31607'
const asset = (code: string, coin: string, contract?: string): Asset => {
  const networks = { network: 'OPTIMISM', aliases: ['OP'] }
  return { ...networks, code, coin, name: coin, isDefault: true, ...(contract !== undefined && { contract }) }
}
const usdc = asset('USDCOP', 'USDC', native)
const usdcE = asset('USDCEOP', 'USDC.E', bridged)
const eth = asset('ETHOP', 'ETH')
const table = new AssetTable([usdc, usdcE, eth].map((own) => ({ coin: own.coin, name: own.name, assets: [own] })))

async function parse(byCode: boolean, rows: readonly Partial<Currency>[], configured: ConfiguredNames = []) {
  const drift: Drift[] = []
  const naming = createAssetNaming(table, { byCode, listsNetworks: true }, configured)
  const whole = rows.map((row) => ({ name: 'A coin', icon: '', ...row }))
  const list = await parseCurrencyList(whole, naming, (kind) => drift.push(kind))
  const offered = [...list.byAsset].flatMap(([{ code }, { isAmbiguous }]) => (isAmbiguous ? [] : [code]))
  return { offered, ambiguous: [...list.ambiguousAssets].map(({ code }) => code), drift, list }
}

describe.each([
  ['by coin and network', false, (coin: string, network = 'OPTIMISM') => ({ coin, network })],
  ['by code', true, (coin: string, network = 'OPTIMISM') => ({ code: coin, network })],
] as const)('named %s', (_, byCode, name) => {
  test('another contract names no asset, and the row is drift', async () => {
    const { offered, ambiguous, drift } = await parse(byCode, [{ ...name('USDC'), contract: bridged }])
    expect([offered, ambiguous, drift]).toEqual([[], ['USDCOP'], ['contradictingContract']])
  })

  test('a coin of a chain has any contract', async () => {
    const { offered, drift } = await parse(byCode, [{ ...name('ETH'), contract: '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee' }])
    expect([offered, drift]).toEqual([['ETHOP'], []])
  })

  test('two tokens of one word: a request could mean the other one, so neither is offered', async () => {
    const rows = [
      { ...name('USDC'), contract: native },
      { ...name('USDC'), contract: bridged },
    ]
    for (const order of [rows, rows.toReversed()]) {
      const { offered, ambiguous } = await parse(byCode, order)
      expect([offered, ambiguous]).toEqual([[], ['USDCOP']])
    }
  })

  test('a word of its own for the other token leaves the first one', async () => {
    const { offered, ambiguous } = await parse(byCode, [
      { ...name('USDC'), contract: native.toLowerCase() },
      { ...name('USDC.E'), contract: bridged },
    ])
    expect([offered, ambiguous]).toEqual([['USDCOP', 'USDCEOP'], []])
  })

  test('the word of the first token for the second one, by configuration', async () => {
    const configured = [
      ['USDCOP', null],
      ['usdceop', byCode ? { code: 'USDC' } : { coin: 'USDC', network: 'OPTIMISM' }],
    ] as const
    const { offered, list } = await parse(byCode, [{ ...name('USDC'), contract: bridged }], configured)
    expect(offered).toEqual(['USDCEOP'])
    expect(list.byAsset.get(usdcE)?.row).toMatchObject({ code: 'USDCEOP', coin: 'USDC.E', network: 'OPTIMISM' })
  })

  test('another token under the word of an asset that is off is no drift', async () => {
    const stranger = `0x${'11'.repeat(20)}`
    const { offered, drift, list } = await parse(
      byCode,
      [{ ...name(byCode ? 'USDCOP' : 'USDC'), contract: stranger }],
      [['USDCOP', null]],
    )
    expect([offered, drift, [...list.assetsOutsideTable.keys()]]).toEqual([[], [], []])
  })

  test('an accepted contract is the only one', async () => {
    const configured = [['usdcop', { contract: bridged }]] as const
    expect((await parse(byCode, [{ ...name('USDC'), contract: bridged }], configured)).offered).toEqual(['USDCOP'])
    expect((await parse(byCode, [{ ...name('USDC'), contract: native }], configured)).offered).toEqual([])
  })

  test('two tokens of one word that the table lacks cannot be requested', async () => {
    const { list } = await parse(byCode, [
      { ...name('ZQX'), contract: native },
      { ...name('ZQX'), contract: bridged },
    ])
    expect((list.assetsOutsideTable.get('ZQX') ?? []).filter(({ isAmbiguous }) => !isAmbiguous)).toEqual([])
  })
})
