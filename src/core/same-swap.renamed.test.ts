/** docs/contract-operators.md §9, §10.2: what a provider says of a swap after it has renamed a coin, or another word has come to mean its asset. */
import { describe, expect, test } from 'vitest'
import type { AddressRule } from '../domain/address/rule.ts'
import type { Amount } from '../domain/amount.ts'
import { AssetTable, type Coin } from '../domain/asset.ts'
import type { Contracts, Currency, NewTransaction, Pair, Transaction } from '../domain/swap.ts'
import { type AssetNaming, assetNameOf, createAssetNaming, from, to, withAssetNames } from './assets/asset-naming.ts'
import { parseCurrencyList } from './assets/currency-list.ts'
import { rulesOf } from './assets/network-rules.ts'
import { assetFromResponse } from './assets/translate-assets.ts'
import { compareCreate, discrepanciesOf, otherSides, type Verdict } from './same-swap.ts'

const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
const mint = 'rndrizKT3MK1iimdxRdWabcF7Zg7AR5T4nud4EkHBof'
const otherMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const terms = { amountIn: '1' as Amount, withdrawalAddress: '0xAbCd', rateType: 'float' } as const

interface Names {
  readonly code?: string
  readonly coin: string
  readonly network: string
  readonly also?: readonly string[]
  readonly aliases?: readonly string[]
  readonly contract?: string
  readonly isHome?: boolean
  readonly address?: AddressRule
}

function coinOf({ coin, also, ...names }: Names): Coin {
  const others = also && { also: also.map((other) => ({ code: other, coin: other })) }
  const asset = { code: coin, coin, name: coin, aliases: [], isDefault: true, ...names, ...others }
  return { coin, name: coin, assets: [asset] }
}

const bitcoin = coinOf({ coin: 'BTC', network: 'BTC', isHome: true })
const render = { coin: 'RENDER', network: 'SOL', contract: mint }
const homeIsMainnet = { home: 'mainnet' }
const solana = { byName: { SOL: 'solana' } }

function namingOf(names: Names, networks: object): AssetNaming {
  return createAssetNaming(new AssetTable([bitcoin, coinOf(names)]), { byCode: false, listsNetworks: true, networks }, [])
}

const bitcoinHere = { coinTo: 'BTC', networkTo: 'BTC' }

/** As a get or a row of a list reaches the comparison: in the names of the table, with the provider's words beside them. */
function reportOf(words: Pair & Contracts, naming: AssetNaming): Transaction {
  const ownAssets = { ...bitcoinHere, ...words }
  const [source, target] = [from, to].map((side) => assetFromResponse(assetNameOf(ownAssets, side), naming) ?? {})
  const report: Transaction = { ...terms, id: 'x', status: 'wait', createdAt: '2026-03-01T10:00:01Z', ownAssets }
  return withAssetNames(report, source ?? {}, target ?? {})
}

/** Of a provider that has not listed anything yet. */
function listOf(naming: AssetNaming) {
  return { naming, last: () => undefined }
}

/** A swap as it was created. `names`: in the words of its client. */
interface Created {
  readonly names: Pair
  readonly sent: Pair & Contracts
}

function created(coinFrom: string, networkFrom: string, sent: Pair & Contracts): Created {
  const names = { codeFrom: coinFrom, coinFrom, networkFrom, codeTo: 'BTC', ...bitcoinHere }
  return { names, sent: { ...bitcoinHere, ...sent } }
}

function verdictOf({ names, sent }: Created, reports: readonly Transaction[], naming: AssetNaming): Verdict {
  return compareCreate(reports, { requested: { ...terms, ...names } as NewTransaction, sent, attemptedAt }, { naming })
}

function rejected({ names, sent }: Created, report: Transaction, { table }: AssetNaming): readonly string[] {
  return discrepanciesOf({ transaction: { ...report, ...names, ownAssets: undefined }, sent }, report, table).rejected
}

const ton = created('TON', 'TON', { coinFrom: 'TON', networkFrom: 'mainnet' })
const renderOnSolana = created('RENDER', 'SOL', { coinFrom: 'RENDER', networkFrom: 'solana', contractFrom: mint })
const rndrOnSolana = created('RNDR', 'solana', { coinFrom: 'RNDR', networkFrom: 'solana', contractFrom: mint })

describe('a lost create may be what the provider has under another name, by its own word for the network', () => {
  const oldTable = namingOf({ coin: 'TON', network: 'TON', isHome: true }, homeIsMainnet)
  const tokens = namingOf(render, solana)

  test.each<[string, Created, Pair & Contracts, AssetNaming, Verdict]>([
    ['of a coin of a chain', ton, { coinFrom: 'GRAM', networkFrom: 'mainnet' }, oldTable, 'possible'],
    ['of a token', renderOnSolana, { coinFrom: 'RNDR', networkFrom: 'solana' }, tokens, 'possible'],
    ['of a token, the name of the table', rndrOnSolana, { coinFrom: 'RENDER', networkFrom: 'solana' }, tokens, 'possible'],
    ['not on another network', ton, { coinFrom: 'GRAM', networkFrom: 'bsc' }, oldTable, 'other'],
    ['not that of another asset of the table', ton, { coinFrom: 'BTC', networkFrom: 'mainnet' }, oldTable, 'other'],
    [
      'not with the contract of another token',
      rndrOnSolana,
      { coinFrom: 'RENDER', networkFrom: 'solana', contractFrom: otherMint },
      tokens,
      'other',
    ],
  ])('%s', (_, create, words, naming, expected) => expect(verdictOf(create, [reportOf(words, naming)], naming)).toBe(expected))

  test.each<[string, string, Verdict]>([
    ['a word that nobody has', 'solana-mainnet', 'possible'],
    ['the word of the table for another network', 'btc', 'other'],
  ])('its network may be renamed: %s', (_, networkFrom, expected) =>
    expect(verdictOf(renderOnSolana, [reportOf({ coinFrom: 'RENDER', networkFrom }, tokens)], tokens)).toBe(expected),
  )

  test('where its list has the old name yet, and a get the new one', () => {
    const reports = ['TON', 'GRAM'].map((coinFrom) => reportOf({ coinFrom, networkFrom: 'mainnet' }, oldTable))
    expect(verdictOf(ton, reports, oldTable)).toBe('possible')
    expect(verdictOf(ton, reports.toReversed(), oldTable)).toBe('possible')
  })
})

describe('an open swap goes on', () => {
  const tokens = namingOf(render, solana)
  const withContract = { coinFrom: 'RNDR', networkFrom: 'solana', contractFrom: mint }

  test.each<[string, Created, Pair & Contracts, boolean]>([
    [
      'when a word of the provider becomes the name of the table',
      rndrOnSolana,
      { coinFrom: 'RENDER', networkFrom: 'solana' },
      true,
    ],
    ['when the name of the table becomes a word with its contract', renderOnSolana, withContract, true],
    ['not under a word without a contract', renderOnSolana, { coinFrom: 'RNDR', networkFrom: 'solana' }, false],
    ['not with the contract of another token', renderOnSolana, { ...withContract, contractFrom: otherMint }, false],
    [
      'not under the name of the table with the contract of another token',
      rndrOnSolana,
      { coinFrom: 'RENDER', networkFrom: 'solana', contractFrom: otherMint },
      false,
    ],
    ['not with the same contract on another network', renderOnSolana, { ...withContract, networkFrom: 'eclipse' }, false],
    ['not as another coin', rndrOnSolana, { coinFrom: 'BTC', networkFrom: 'BTC' }, false],
  ])('%s', (_, create, words, goesOn) =>
    expect(rejected(create, reportOf(words, tokens), tokens)).toEqual(goesOn ? [] : ['coinFrom']),
  )
})

describe("a report by another name of the coin, on the form's own word for its network, is of the coin", () => {
  const sky = { coin: 'SKY', also: ['MKR'], network: 'ETH', contract: '0x56072C95FAA701256059aa122697B133aDEd9279' }
  const ethereum = { byName: { ETH: 'ethereum' } }
  const toncoin = { coin: 'TON', also: ['GRAM'], network: 'TON', isHome: true }
  const gram = { coin: 'GRAM', also: ['TON'], network: 'TON', isHome: true }

  test.each<[string, Names, object, readonly [coin: string, network: string], readonly string[]]>([
    ['new at the provider', toncoin, homeIsMainnet, ['TON', 'mainnet'], ['GRAM', 'TON']],
    ['old at the provider', gram, homeIsMainnet, ['GRAM', 'mainnet'], ['TON', 'GRAM']],
    ['of a provider that does not follow', gram, homeIsMainnet, ['TON', 'mainnet'], ['TON', 'GRAM']],
    ['of a token', sky, ethereum, ['SKY', 'ethereum'], ['MKR', 'SKY']],
  ])('%s', (_, names, networks, [coinFrom, networkFrom], reported) => {
    const naming = namingOf(names, networks)
    const create = created(coinFrom, names.network, { coinFrom, networkFrom })
    for (const coin of reported) {
      const report = reportOf({ coinFrom: coin, networkFrom }, naming)
      expect([report.codeFrom, report.networkFrom, rulesOf(report, from, naming)?.coin]).toEqual([
        names.coin,
        names.network,
        names.coin,
      ])
      expect([rejected(create, report, naming), verdictOf(create, [report], naming)]).toEqual([[], 'match'])
      expect(otherSides({ ...create.sent }, { ...report.ownAssets }, listOf(naming), { ...report })).toEqual([])
    }
  })

  test('and not on another network', () => {
    const naming = namingOf(sky, ethereum)
    const create = created('SKY', 'ETH', { coinFrom: 'SKY', networkFrom: 'ethereum' })
    const report = reportOf({ coinFrom: 'MKR', networkFrom: 'btc' }, naming)
    expect([rejected(create, report, naming), verdictOf(create, [report], naming)]).toEqual([['coinFrom'], 'other'])
  })
})

describe('a word that means another chain at other services is no network of the table in what a provider says', () => {
  const era = { coin: 'ETH', network: 'ZKSYNC', aliases: ['ZKSYNCERA'] }
  const avalanche = { coin: 'AVAX', network: 'AVAXC', aliases: ['AVAX'], isHome: true }
  const ownWords = { byName: { ZKSYNC: 'ZKSYNCERA', AVAXC: 'cchain' } }

  test.each([
    [era, 'ZKSYNCERA', 'zksync', 'other'],
    [avalanche, 'cchain', 'avax', 'possible'],
  ])('of %j', (names, networkFrom, other, verdict) => {
    const naming = namingOf(names, ownWords)
    const create = created(names.coin, names.network, { coinFrom: names.coin, networkFrom })
    const report = reportOf({ coinFrom: names.coin, networkFrom: other }, naming)
    expect(otherSides({ ...create.sent }, { ...report.ownAssets }, listOf(naming), create.names)).toEqual([from])
    expect([rejected(create, report, naming), verdictOf(create, [report], naming)]).toEqual([['coinFrom'], verdict])
    const same = reportOf({ coinFrom: names.coin, networkFrom }, naming)
    expect(otherSides({ ...create.sent }, { ...same.ownAssets }, listOf(naming), create.names)).toEqual([])
    expect([rejected(create, same, naming), verdictOf(create, [same], naming)]).toEqual([[], 'match'])
  })

  test.each([
    [{ byName: { ZKSYNC: 'zksync', AVAXC: 'avax' } }, []],
    [{}, [['ETHZKSYNC', { coin: 'ETH', network: 'zksync' }] as const]],
  ])("but where it is the form's own, or the operator's: %j", (networks, configured) => {
    const table = new AssetTable([bitcoin, coinOf({ ...era, code: 'ETHZKSYNC' })])
    const naming = createAssetNaming(table, { byCode: false, listsNetworks: true, networks }, configured)
    const report = reportOf({ coinFrom: 'ETH', networkFrom: 'zksync' }, naming)
    const create = created('ETH', 'ZKSYNC', { coinFrom: 'ETH', networkFrom: 'zksync' })
    expect([report.codeFrom, verdictOf(create, [report], naming)]).toEqual(['ETHZKSYNC', 'match'])
  })
})

describe('words that the list has for another token name no asset in an answer', () => {
  const tether = { coin: 'USDT', code: 'USDTARB', network: 'ARBITRUM', contract: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9' }
  const gram: Names = { coin: 'GRAM', also: ['TON'], network: 'TON', isHome: true, address: { format: 'TON', checksum: [] } }
  const another = '0x1111111111111111111111111111111111111111'
  const jetton = 'EQC47093oX5Xhb0xuk2lCr2RhS8rj-vul61u4W2UH5ORmG_O'

  test.each<[string, Names, readonly Currency[], string, string]>([
    [
      'of a token by its contract',
      tether,
      [row('USDT', 'ARBITRUM', another), row('USDT0', 'ARBITRUM', tether.contract)],
      'USDT0',
      'USDT',
    ],
    ['of a coin of a chain', gram, [row('TON', 'TON'), row('GRAM', 'TON', jetton)], 'TON', 'GRAM'],
  ])('%s', async (_, names, rows, sent, answered) => {
    const naming = namingOf(names, {})
    const { code, coin, network } = naming.table.coins[1]?.assets[0] ?? {}
    const pair = { codeFrom: code, coinFrom: coin, networkFrom: network, ...bitcoinHere }
    const sides = async (listed: readonly Currency[], coinFrom: string) => {
      const list = { ...(await parseCurrencyList(listed, naming, () => {})), provider: 'alpha', fetchedAt: 0 }
      const words = { ...bitcoinHere, networkFrom: network }
      return otherSides({ ...words, coinFrom: sent }, { ...words, coinFrom }, { naming, last: () => list }, pair)
    }
    expect([await sides(rows, answered), await sides(rows, sent)]).toEqual([[from], []])
    expect(
      await sides(
        rows.filter(({ coin: own }) => own === sent),
        answered,
      ),
    ).toEqual([])
  })

  test('of a form that names assets by code', async () => {
    const naming = createAssetNaming(new AssetTable([bitcoin, coinOf(gram)]), { byCode: true }, [])
    const listed = ['TON', 'GRAM'].map((code) => ({
      code,
      network: 'TON',
      name: code,
      icon: '',
      ...(code === 'GRAM' && { contract: jetton }),
    }))
    const list = { ...(await parseCurrencyList(listed, naming, () => {})), provider: 'alpha', fetchedAt: 0 }
    const [sent, answered] = ['TON', 'GRAM'].map((codeFrom) => ({ codeFrom, codeTo: 'BTC' }))
    const pair = { codeFrom: 'GRAM', coinFrom: 'GRAM', networkFrom: 'TON', codeTo: 'BTC' }
    expect(otherSides(sent ?? {}, answered ?? {}, { naming, last: () => list }, pair)).toEqual([from])
    expect(otherSides(sent ?? {}, answered ?? {}, listOf(naming), pair)).toEqual([])
  })
})

function row(coin: string, network: string, contract?: string): Currency {
  return { coin, network, name: coin, icon: '', ...(contract !== undefined && { contract }) }
}
