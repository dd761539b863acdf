/** The default asset table: made from `scripts/assets`, without two meanings of one name (docs/contract.md §3.2). */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { createAssetNaming } from '../../src/core/assets/asset-naming.ts'
import { isAddress } from '../../src/domain/address/rule.ts'
import { sameContract } from '../../src/domain/address/same-address.ts'
import { type Asset, networkNames } from '../../src/domain/asset.ts'
import { namesByCode } from '../../src/domain/service.ts'
import { knownForms, providerForms } from '../../src/forms/index.ts'

const { assets: table } = loadConfig('config/gateway.yaml', knownForms, {})
const assets = table.coins.flatMap((coin) => coin.assets)
const assetsOf = (coin: string): readonly Asset[] => table.coin(coin)?.assets ?? []
const codesOf = (found: readonly Asset[]): readonly string[] => found.map(({ code }) => code)

/** The names that several assets have. */
function shared(namesOf: (asset: Asset) => readonly string[]): readonly string[] {
  const owners = Map.groupBy(
    assets.flatMap((asset) => namesOf(asset).map((name) => ({ name, asset }))),
    ({ name }) => name,
  )
  return [...owners].filter(([, found]) => found.length > 1).map(([name]) => name)
}

it('is what the script makes (npm run assets)', () => {
  const made = execFileSync(process.execPath, ['scripts/asset-table.ts', '--print'], { encoding: 'utf8' })
  expect(readFileSync('config/assets.yaml', 'utf8')).toBe(made)
})

it('has at least 150 coins, and the usual stable coins on their usual networks', () => {
  expect(table.coins.length).toBeGreaterThanOrEqual(150)
  const networksOf = (coin: string): readonly string[] => assetsOf(coin).map(({ network }) => network)
  const usual = ['TRX', 'ETH', 'BSC', 'SOL', 'TON', 'POLYGON', 'ARBITRUM', 'OPTIMISM', 'AVAXC']
  expect(networksOf('USDT')).toEqual(expect.arrayContaining(usual))
  expect(networksOf('USDC')).toEqual(expect.arrayContaining(['ETH', 'SOL', 'BSC', 'BASE', 'ARBITRUM', 'OPTIMISM', 'AVAXC']))
})

describe('no name has two meanings', () => {
  it('in forms that name an asset by code: no code is another asset’s code, or the name of another coin', () => {
    expect(shared(({ code }) => [code.toUpperCase()])).toEqual([])
    expect(codesOf(assets.filter(({ code, coin }) => table.coin(code) && code !== coin))).toEqual([])
  })

  it('in forms that name an asset by coin and network', () => {
    expect(shared((asset) => networkNames(asset).map((network) => `${asset.coin} on ${network}`))).toEqual([])
  })

  it('a name of a network means the same network for every coin', () => {
    const meanings = Map.groupBy(
      assets.flatMap((asset) => networkNames(asset).map((name) => ({ name, network: asset.network }))),
      ({ name }) => name,
    )
    const ambiguous = [...meanings].filter(([, found]) => new Set(found.map(({ network }) => network)).size > 1)
    expect(ambiguous.map(([name]) => name)).toEqual([])
  })
})

it('a coin has at most one chain of its own, and it is the default', () => {
  for (const { coin, assets: own } of table.coins) {
    const home = own.filter(({ isHome }) => isHome)
    expect(home.length, coin).toBeLessThanOrEqual(1)
    expect(home.filter(({ isDefault }) => !isDefault).length, coin).toBe(0)
    expect(own.filter(({ isDefault }) => isDefault).length, coin).toBe(1)
  }
  const homeOf = (coin: string): readonly string[] => assetsOf(coin).flatMap(({ isHome, network }) => (isHome ? [network] : []))
  expect(['ETH', 'POL', 'BNB', 'AVAX', 'TRX', 'SOL'].flatMap(homeOf)).toEqual(['ETH', 'POLYGON', 'BSC', 'AVAXC', 'TRX', 'SOL'])
  expect(['USDT', 'ARB', 'OP', 'WBTC'].flatMap(homeOf)).toEqual([])
})

it('a chain is the own one of at most one coin', () => {
  const homes = assets.filter(({ isHome }) => isHome).map(({ network }) => network)
  expect(homes.filter((network, at) => homes.indexOf(network) !== at)).toEqual([])
})

it('every asset has its decimal places, or significant digits on the XRP Ledger', () => {
  const isIssued = ({ network, contract }: Asset): boolean => network === 'XRP' && contract !== undefined
  expect(
    codesOf(
      assets.filter((asset) => !isIssued(asset) && (asset.decimals === undefined || asset.decimals < 0 || asset.decimals > 30)),
    ),
  ).toEqual([])
  expect(codesOf(assets.filter((asset) => isIssued(asset) !== (asset.digits === 16)))).toEqual([])
  expect(codesOf(assets.filter((asset) => isIssued(asset) && asset.decimals !== undefined))).toEqual([])
  const decimalsOf = (code: string): number | undefined => table.byCode(code)?.decimals
  expect(['BTC', 'ETH', 'USDTTRC20', 'USDTBEP20', 'GUSD', 'XNO'].map(decimalsOf)).toEqual([8, 18, 6, 18, 2, 30])
})

describe('a token has its contract', () => {
  const homes = new Map(table.coins.map(({ coin, assets: own }) => [coin, own.find(({ isHome }) => isHome)]))
  /** A coin of a chain is one on other chains too, as ETH on Arbitrum. */
  const isToken = ({ coin }: Asset): boolean => homes.get(coin) === undefined

  it('every token, and no coin of a chain', () => {
    expect(codesOf(assets.filter((asset) => isToken(asset) !== (asset.contract !== undefined)))).toEqual([])
  })

  it('each another one of its network', () => {
    for (const sameNetwork of Map.groupBy(assets, ({ network }) => network).values()) {
      const contracts = sameNetwork.flatMap(({ contract }) => contract ?? [])
      for (const [at, contract] of contracts.entries()) {
        expect(contracts.slice(at + 1).filter((other) => sameContract(contract, other))).toEqual([])
      }
    }
  })

  it('that is an address of the network, with its checksum, or an asset as the network names them', () => {
    const own: Readonly<Record<string, RegExp>> = {
      ALGO: /^\d{1,20}$/,
      SUI: /^0x[0-9a-f]{64}::\w+::\w+$/,
      XLM: /^[A-Z0-9]{1,12}-G[A-Z2-7]{55}$/,
      XRP: /^[A-Z0-9]{3,20}-r[1-9A-HJ-NP-Za-km-z]{24,34}$/,
    }
    const wrong = assets.filter(({ network, contract, address }) => {
      if (contract === undefined || !address) return false
      return !(own[network]?.test(contract) ?? isAddress(contract, address))
    })
    expect(codesOf(wrong)).toEqual([])
  })

  it('USDC is Circle’s own (@circle-fin/bridge-kit 1.15.1 and viem 2.57.20: tokens/definitions/usdc)', () => {
    const networks = ['HYPEEVM', 'MONAD', 'CRONOS', 'PLASMA', 'SEI', 'XDC', 'INJ']
    expect(
      networks.map((network) => [network, table.find('USDC', network)?.contract, table.find('USDC', network)?.decimals]),
    ).toEqual([
      ['HYPEEVM', '0xb88339CB7199b77E23DB6E890353E22632Ba630f', 6],
      ['MONAD', '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 6],
      ['CRONOS', '0x3D7F2C478aAfdB65542BCB44bCeeC05849999d2D', 6],
      ['PLASMA', '0x2d661C89D812261039AF9764eceaAee884f5F67F', 6],
      ['SEI', '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 6],
      ['XDC', '0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1', 6],
      ['INJ', '0xa00C59fF5a080D2b954d0c75e46E22a0c371235a', 6],
    ])
  })

  it('native and bridged tokens are two assets, and an old code is the native one', () => {
    const contractOf = (code: string): string | undefined => table.byCode(code)?.contract
    expect(['USDCARB', 'USDCOP', 'USDCPOLYGON'].map(contractOf)).toEqual([
      '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
      '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
      '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    ])
    expect(table.find('USDC.E', 'OP')).toMatchObject({ code: 'USDCEOP', contract: '0x7F5c764cBc14f9669B88837ca1490cCa17c31607' })
    expect(table.find('usdc.e', 'polygon')?.code).toBe('USDCEPOLYGON')
  })
})

describe.each(providerForms.map((form) => [form.name, form] as const))('at a provider of form %s', (_, form) => {
  const { capabilities, networks, assets: own } = form
  const naming = createAssetNaming(table, { byCode: namesByCode(capabilities), networks }, new Map(Object.entries(own)))
  const wordsOf = (asset: Asset): string =>
    Object.values(naming.nameFor(asset) ?? {})
      .join(' ')
      .toUpperCase()

  it('each asset has a name of its own', () => {
    expect(shared((asset) => [wordsOf(asset)])).toEqual([])
    const confused = assets.filter((asset) => naming.assetsNamed(naming.nameFor(asset) ?? {}).some((other) => other !== asset))
    expect(codesOf(confused)).toEqual([])
  })

  it('its words are of networks and assets of the table', () => {
    const known = new Set(assets.map(({ network }) => network))
    expect(Object.keys(networks.byName ?? {}).filter((network) => !known.has(network))).toEqual([])
    expect(Object.keys(own).filter((code) => !table.byCode(code))).toEqual([])
  })
})
