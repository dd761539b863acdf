/** docs/contract.md §3: which asset a row of a provider's list is, for both manners of naming assets. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { workMs } from '../../../test/support/work.ts'
import { toBase58 } from '../../domain/address/encoding.ts'
import { type Asset, AssetTable, type Spelling } from '../../domain/asset.ts'
import type { Currency } from '../../domain/swap.ts'
import { type ConfiguredNames, createAssetNaming } from './asset-naming.ts'
import { parseCurrencyList } from './currency-list.ts'

const onTon = 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs'
const jetton = 'EQC47093oX5Xhb0xuk2lCr2RhS8rj-vul61u4W2UH5ORmG_O'
const onArbitrum = '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'
const ripple = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De'
const arb = '0x912CE59144191C1204E64559FE8253a0e49E6548'

function asset(code: string, coin: string, network: string, facts: Partial<Asset> = {}): Asset {
  return { code, coin, network, name: coin, aliases: [], isDefault: true, ...facts }
}
const spellings = (...names: readonly string[]): readonly Spelling[] => names.map((name) => ({ code: name, coin: name }))

const gram = asset('GRAM', 'GRAM', 'TON', {
  isHome: true,
  also: spellings('TON'),
  address: { format: 'TON', checksum: [] } as never,
})
const ton = asset('TON', 'TON', 'TON', { isHome: true, also: spellings('GRAM') })
const usdtTon = asset('USDTTON', 'USDT', 'TON', { contract: onTon })
const usdtArb = asset('USDTARB', 'USDT', 'ARBITRUM', { aliases: ['ARB'], contract: onArbitrum })
const arbitrum = asset('ARB', 'ARB', 'ARBITRUM', { aliases: ['ARB'], contract: arb })
const render = asset('RENDER', 'RENDER', 'SOL', {
  also: spellings('RNDR'),
  contract: 'rndrizKT3MK1iimdxRdWabcF7Zg7AR5T4nud4EkHBof',
})
const avax = asset('AVAX', 'AVAX', 'AVAXC', { aliases: ['AVAX'], isHome: true })
const eth = asset('ETHZKSYNC', 'ETH', 'ZKSYNC', { aliases: ['ZKSYNCERA'] })

function tableOf(...assets: readonly Asset[]): AssetTable {
  const coins = Map.groupBy(assets, ({ coin }) => coin)
  return new AssetTable([...coins].map(([coin, own]) => ({ coin, name: coin, assets: own })))
}
const rlusd = asset('RLUSDXRP', 'RLUSD', 'XRP', { contract: `RLUSD-${ripple}` })
const shipped = tableOf(rlusd, gram, usdtTon, usdtArb, arbitrum, render, avax, eth)

interface Given {
  readonly table?: AssetTable
  readonly lines?: ConfiguredNames
  readonly words?: Readonly<Record<string, string>>
}

describe.each([
  ['by coin and network', false],
  ['by code', true],
] as const)('named %s', (_, byCode) => {
  const row = (word: string, network: string, contract?: string): Partial<Currency> => ({
    ...(byCode ? { code: word } : { coin: word }),
    network,
    contract,
  })
  const line = (word: string, network: string) => (byCode ? { code: word } : { coin: word, network })

  async function parse(rows: readonly Partial<Currency>[], { table = shipped, lines = [], words = {} }: Given = {}) {
    const naming = createAssetNaming(table, { byCode, listsNetworks: true, networks: { byName: words } }, lines)
    const whole = rows.map((one) => ({ name: 'A coin', icon: '', ...one }))
    const list = await parseCurrencyList(whole, naming, () => {})
    const clear = [...list.byAsset].filter(([, { isAmbiguous }]) => !isAmbiguous)
    return {
      offered: clear.map(([{ code }, { assetName, by }]) => [code, assetName.code ?? `${assetName.coin} ${assetName.network}`, by]),
      unclear: [...list.unclear].map(([{ code }]) => code),
      outside: [...list.assetsOutsideTable.keys()],
    }
  }
  const asked = (word: string, network: string): string => (byCode ? word : `${word} ${network}`)

  test('a coin is known by its name of today and by its other ones', async () => {
    expect((await parse([row('gram', 'ton')])).offered).toEqual([['GRAM', asked('gram', 'ton'), undefined]])
    expect((await parse([row('ton', 'ton')])).offered).toEqual([['GRAM', asked('ton', 'ton'), 'also']])
  })

  test('by its old and its new name it is neither, until the operator has written the line', async () => {
    const rows = [row('ton', 'ton'), row('gram', 'ton')]
    expect(await parse(rows)).toMatchObject({ offered: [], unclear: ['GRAM'] })
    for (const word of ['ton', 'gram']) {
      const { offered, unclear } = await parse(rows, { lines: [['GRAM', line(word, 'ton')]] })
      expect([offered[0]?.slice(0, 2), unclear]).toEqual([['GRAM', asked(word, 'ton')], []])
    }
  })

  test('an old code of the file is the asset that is called otherwise now', async () => {
    const { offered } = await parse([row('toncoin', 'ton')], { lines: [['TON', line('toncoin', 'ton')]] })
    expect(offered[0]?.[0]).toBe('GRAM')
  })

  test('with a contract it is another token, by whichever name', async () => {
    expect((await parse([row('ton', 'ton', jetton)])).offered).toEqual([])
    expect((await parse([row('gram', 'ton', jetton)])).offered).toEqual([])
    const both = await parse([row('ton', 'ton'), row('gram', 'ton', jetton)])
    expect([both.offered, both.outside]).toEqual([[['GRAM', asked('ton', 'ton'), 'also']], []])
  })

  test.each(['EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c', `0:${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`])(
    'the zero address %s is no contract',
    async (zero) => {
      for (const word of ['ton', 'gram']) expect((await parse([row(word, 'ton', zero)])).offered[0]?.[0]).toBe('GRAM')
    },
  )

  test('by a name that another asset had on its network it counts only by the operator’s word', async () => {
    const table = tableOf(ton)
    expect((await parse([row('gram', 'ton')], { table })).offered).toEqual([])
    const { offered } = await parse([row('gram', 'ton')], { table, lines: [['TON', line('gram', 'ton')]] })
    expect(offered[0]?.slice(0, 2)).toEqual(['TON', asked('gram', 'ton')])
  })

  test.each([
    ['in small letters', { network: 'ton' }],
    ['by an alias', { network: 'TONCHAIN', aliases: ['TON'] }],
    ['by a small alias', { network: 'TONCHAIN', aliases: ['ton'] }],
  ])('so it does where the table has the network %s', async (_way, names) => {
    const table = tableOf({ ...ton, ...names })
    expect((await parse([row('gram', 'ton')], { table })).offered).toEqual([])
    const other = tableOf({ ...ton, ...names, also: spellings('OTHER') })
    expect((await parse([row('other', 'ton')], { table: other })).offered).toHaveLength(1)
  })

  test('a token is its contract, whatever it is called', async () => {
    const { offered, outside } = await parse([row('usdt0', 'arbitrum', onArbitrum.toLowerCase()), row('zqx', 'arbitrum', jetton)])
    expect(offered).toEqual([['USDTARB', asked('usdt0', 'arbitrum'), 'contract']])
    expect(outside).toEqual(['ZQX', 'USDT0'])
    expect((await parse([row('rndr', 'sol', render.contract)])).offered).toEqual([['RENDER', asked('rndr', 'sol'), 'also']])
    expect((await parse([row('rndr', 'sol', jetton)])).offered).toEqual([])
  })

  test('an issuer alone makes no row its token, which it has by its words', async () => {
    expect(await parse([row('xyz', 'xrp', ripple)])).toMatchObject({ offered: [], outside: ['XYZ'] })
    const issuerAlone: ConfiguredNames = [['RLUSDXRP', { contract: ripple }]]
    expect((await parse([row('xyz', 'xrp', `XYZ.${ripple}`)], { lines: issuerAlone })).offered).toEqual([])
    expect((await parse([row('xyz', 'xrp', `RLUSD.${ripple}`)])).offered).toEqual([['RLUSDXRP', asked('xyz', 'xrp'), 'contract']])
    const word = byCode ? 'rlusdxrp' : 'rlusd'
    for (const lines of [[], issuerAlone])
      expect((await parse([row(word, 'xrp', ripple)], { lines })).offered).toEqual([['RLUSDXRP', asked(word, 'xrp'), undefined]])
  })

  test('a contract under the name of another asset there is neither', async () => {
    const { offered, outside } = await parse([row('arb', 'arbitrum', onArbitrum)])
    expect([offered, outside]).toEqual([[], []])
    expect((await parse([row('gram', 'ton', onTon)])).offered).toEqual([])
  })

  test('without a contract no network alone makes it an asset', async () => {
    expect(await parse([row('zqx', 'ton')])).toMatchObject({ offered: [], outside: ['ZQX'] })
  })

  test('a word that is two tokens is none', async () => {
    const { offered } = await parse([row('zqx', 'arbitrum', onArbitrum), row('zqx', 'arbitrum', arb)])
    expect(offered).toEqual([])
  })

  test('a word of several chains is the network only where it is the form’s own', async () => {
    expect((await parse([row('avax', 'avax')])).offered).toEqual([])
    const own = await parse([row('avax', 'avax')], { words: { AVAXC: 'avax' } })
    expect(own.offered).toEqual([['AVAX', asked('avax', 'avax'), undefined]])
  })

  test('the form’s word for a network counts however the table spells the network', async () => {
    const table = tableOf({ ...avax, network: 'avaxc' })
    expect((await parse([row('avax', 'c-chain')], { table, words: { AVAXC: 'c-chain' } })).offered).toHaveLength(1)
  })

  test('off: it is neither offered nor a coin of the provider', async () => {
    const table = tableOf({ ...avax, isOffered: false })
    expect(await parse([row('avax', 'avaxc')], { table })).toEqual({ offered: [], unclear: [], outside: [] })
  })

  test.each(['the table', 'the operator'])('off by %s: by no word is it offered or a coin of the provider', async (who) => {
    const table =
      who === 'the table' ? tableOf(...[gram, avax, usdtArb].map((one) => ({ ...one, isOffered: false as const }))) : shipped
    const words: ConfiguredNames = [['AVAX', line('avaxc', 'c-chain')]]
    const off = [gram, avax, usdtArb].map(({ code }) => [code, null] as const)
    const lines = who === 'the table' ? words : [...words, ...off]
    const rows = [row('ton', 'ton'), row('avaxc', 'c-chain'), row('avaxc', 'avaxc'), row('usdt0', 'arbitrum', onArbitrum)]
    for (const each of [...rows.map((one) => [one]), rows])
      expect(await parse(each, { table, lines })).toEqual({ offered: [], unclear: [], outside: [] })
  })

  test('the word of an asset that is off is free for another one', async () => {
    const lines: ConfiguredNames = [
      ['AVAX', null],
      ['ARB', line('avax', byCode ? 'arbitrum' : 'avaxc')],
    ]
    const { offered } = await parse([row('avax', byCode ? 'arbitrum' : 'avaxc')], { lines })
    expect(offered.map(([code]) => code)).toEqual(['ARB'])
  })

  test('a row costs no look at each token of its network', async () => {
    const addressOf = (at: number): string => toBase58(createHash('sha256').update(String(at)).digest())
    const tokens = Array.from({ length: 200 }, (_none, at) => asset(`A${at}`, `A${at}`, 'SOL', { contract: addressOf(at) }))
    const rows = Array.from({ length: 2_000 }, (_none, at) => row(`Z${at}`, 'sol', addressOf(at + 100)))
    const parseAll = async () => expect((await parse(rows, { table: tableOf(...tokens) })).offered).toHaveLength(100)
    expect(await workMs(parseAll)).toBeLessThan(2_500)
  })

  test('a row by its contract costs no look at each name of its network', async () => {
    const contractOf = (at: number): string => `0x1${String(at).padStart(39, '0')}`
    const tokens = Array.from({ length: 4_000 }, (_none, at) => asset(`A${at}`, `A${at}`, 'ETH', { contract: contractOf(at) }))
    const rows = tokens.map((_token, at) => row(`Z${at}`, 'eth', contractOf(at)))
    const parseAll = async () => expect((await parse(rows, { table: tableOf(...tokens) })).offered).toHaveLength(4_000)
    expect(await workMs(parseAll)).toBeLessThan(2_500)
  })

  test('a row costs no look at each coin with another name', async () => {
    const coins = Array.from({ length: 4_000 }, (_none, at) =>
      asset(`A${at}`, `A${at}`, 'ETH', { also: spellings(`B${at}`, `C${at}`) }),
    )
    const rows = Array.from({ length: 4_000 }, (_none, at) => row(`C${at + 3_900}`, 'eth'))
    const parseAll = async () => expect((await parse(rows, { table: tableOf(...coins) })).offered).toHaveLength(100)
    expect(await workMs(parseAll)).toBeLessThan(2_500)
  })

  if (byCode) {
    test('a code of the table on another network is contradicted, whatever its contract', async () => {
      const { offered, outside } = await parse([row('gram', 'arbitrum', onArbitrum), row('usdtton', 'arbitrum', onArbitrum)])
      expect([offered, outside]).toEqual([[], []])
    })
  }

  if (!byCode) {
    test('of two words for its network the form’s own counts, in any order', async () => {
      const rows = [row('eth', 'zksyncera'), row('eth', 'zksync')]
      for (const order of [rows, rows.toReversed()]) {
        expect((await parse(order)).offered).toEqual([['ETHZKSYNC', 'eth zksync', undefined]])
        expect(await parse(order, { words: { ZKSYNC: 'zk' } })).toMatchObject({
          offered: [['ETHZKSYNC', 'eth zksyncera', undefined]],
        })
      }
    })

    test('two words without the form’s own are none', async () => {
      const rows = [row('usdt', 'arb', onArbitrum), row('usdt', 'arbitrum', onArbitrum)]
      expect(await parse(rows, { words: { ARBITRUM: 'arb-one' } })).toMatchObject({ offered: [], unclear: ['USDTARB'] })
    })
  }
})
