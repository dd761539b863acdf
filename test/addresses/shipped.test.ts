/** docs/contract.md §3.6: the table that comes with the gateway. */
import { describe, expect, test } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import { loadConfig } from '../../src/config/index.ts'
import { ownerlessComplaint } from '../../src/core/assets/network-rules.ts'
import { type AddressRule, isAddress, isMemo } from '../../src/domain/address/rule.ts'
import { issuerOf } from '../../src/domain/address/same-address.ts'
import type { Asset } from '../../src/domain/asset.ts'
import { knownForms } from '../../src/forms/index.ts'
import { depositAddress, memo, networkOf } from '../../src/sandbox/networks.ts'
import { workMs } from '../support/work.ts'
import { samples } from './samples.ts'

const { assets: table } = loadConfig('config/gateway.yaml', knownForms, {})
const assets = table.coins.flatMap((coin) => coin.assets)
const byNetwork = Map.groupBy(assets, ({ network }) => network)
const ruleOf = (network: string): AddressRule => byNetwork.get(network)?.[0]?.address as AddressRule
const isOn = (network: string, address: string): boolean => isAddress(address, ruleOf(network))

const everyForm = Object.entries(samples).flatMap(([network, own]) =>
  Object.entries(own).map(([form, address]) => ({ network, form, address })),
)
const ethereumLike = [
  ...['ARBITRUM', 'AVAXC', 'BASE', 'BERA', 'BSC', 'CELO', 'CORE', 'CRONOS', 'ETC', 'ETH', 'ETHW', 'FIL', 'FLR', 'GLMR', 'HBAR'],
  ...[
    'HYPEEVM',
    'INJ',
    'KAIA',
    'KAVA',
    'LINEA',
    'MNT',
    'MONAD',
    'OPTIMISM',
    'PLASMA',
    'PLS',
    'POLYGON',
    'RONIN',
    'SEI',
    'SONIC',
    'STORY',
  ],
  ...['THETA', 'VET', 'XDC', 'ZIL', 'ZKSYNC'],
]
/** Networks that share a form of addresses: an address does not show which of them is meant. */
const shared: readonly { readonly shape: RegExp; readonly networks: readonly string[] }[] = [
  { shape: /^0x.{40}$/, networks: ethereumLike },
  { shape: /^0x[0-9a-f]{40}$/, networks: [...ethereumLike, 'NEAR'] },
  { shape: /^0x[0-9a-f]{60,64}$/, networks: ['APT'] },
  { shape: /^0x(?:0[0-7][0-9a-f]{62}|[0-9a-f]{60,62})$/, networks: ['STRK'] },
  { shape: /^0x049D36/, networks: ['APT', 'IOTA', 'SUI'] },
  { shape: /^0x[0-9a-f]{64}$/, networks: ['APT', 'IOTA', 'SUI'] },
  { shape: /^529ea5[0-9a-f]{58}$/, networks: ['NEAR'] },
  { shape: /^[13]\w{25,34}$/, networks: ['BTC', 'BCH'] },
  { shape: /^1\w{25,33}$/, networks: ['BTC', 'BCH', 'BSV'] },
  { shape: /^3\w{25,34}$/, networks: ['BTC', 'BCH', 'DGB', 'LTC'] },
  { shape: /^D\w{33}$/, networks: ['DOGE', 'DGB'] },
  { shape: /^M\w{33}$/, networks: ['LTC', 'QTUM'] },
  { shape: /^5\w{47}$/, networks: ['DOT', 'KSM', 'TAO'] },
  { shape: /^terra1/, networks: ['LUNA', 'LUNC'] },
]

function mayBeOn(network: string, address: string): boolean {
  return shared.some(({ shape, networks }) => shape.test(address) && networks.includes(network))
}

test('M30: every asset of the table has patterns for its addresses, the same for each network', () => {
  const silent = assets.filter(({ address }) => !address).map(({ code }) => code)
  expect(silent).toEqual([])
  for (const [network, [first, ...others]] of byNetwork) {
    const ruleText = ({ address, memo: own }: Asset): string => JSON.stringify([address, own])
    expect(
      others.filter((asset) => ruleText(asset) !== ruleText(first as Asset)).map(({ code }) => code),
      network,
    ).toEqual([])
  }
  expect(Object.keys(samples).toSorted()).toEqual([...byNetwork.keys()].toSorted())
})

test.each(everyForm)('M30: $network takes its form $form', ({ network, address }) => {
  expect(isOn(network, address), address).toBe(true)
})

test.each(everyForm)("M30: only networks that share it take $network's form $form", ({ network: own, address }) => {
  const wrong = [...byNetwork.keys()].filter((other) => other !== own && isOn(other, address) !== mayBeOn(other, address))
  expect(wrong, address).toEqual([])
})

describe('M31: a wrong checksum is refused', () => {
  const without = /^f0|^0\.0\.[^-]+$|^(?:0x|ronin:|xdc)[0-9a-f]+$|^0x[0-9A-F]+$|^[ch]x|^-?[01]:|\.near$|^[0-9a-f]{64}$/
  const sound = everyForm.filter(({ network, address }) => !without.test(address) && network !== 'SOL' && network !== 'NEAR')

  test.each(sound)('$network, $form', ({ network, address }) => {
    const wrong = address.startsWith('0x') ? swapCase(address) : replaceLast(address)
    expect(isOn(network, wrong), wrong).toBe(false)
  })

  test('and they are most', () => {
    expect(sound.length).toBeGreaterThan(100)
  })
})

function replaceLast(address: string): string {
  const last = address.at(-1) as string
  const other = last === last.toUpperCase() && last !== last.toLowerCase() ? 'Q' : 'q'
  return address.slice(0, -1) + (last.toLowerCase() === 'q' ? (other === 'Q' ? 'P' : 'p') : other)
}

/** One letter, and it is still of both cases. */
function swapCase(address: string): string {
  return address.replace(/[a-f](?=[^a-f]*$)/, (letter) => letter.toUpperCase())
}

describe('M40: nobody pays out from a contract of the table', () => {
  const complaintOf = (asset: Asset, address: string) => ownerlessComplaint(address, asset, table)
  const tokens = assets.filter(({ contract }) => contract !== undefined)
  /** What of a contract is an address: all of it, the package of a type, or the issuer. */
  const addressOf = ({ contract = '' }: Asset): string => issuerOf(contract) ?? contract.replace(/^nep141:|::.*$/g, '')

  test('each of them that is an address', () => {
    const addressable = tokens.filter((asset) => isOn(asset.network, addressOf(asset)))
    expect(addressable.length).toBeGreaterThan(150)
    const others = tokens.filter((asset) => !addressable.includes(asset))
    expect(others.map(({ network }) => network)).toEqual(['ALGO'])
    const taken = addressable.filter((asset) => complaintOf(asset, addressOf(asset)) === undefined)
    expect(taken.map(({ code }) => code)).toEqual([])
  })

  test.each([
    ['USDTTON', 'UQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_p0p', 'not bounceable'],
    ['USDTTON', '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe', 'raw'],
    ['TON', 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs', 'of another coin'],
    ['USDTTRC20', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'in base 58'],
    ['USDTERC20', '0xDAC17F958D2EE523A2206206994597C13D831EC7', 'in capitals'],
    ['USDCHBAR', '0x000000000000000000000000000000000006f89a', 'at its long address'],
    ['USDCHBAR', '0.0.456858', 'as a number'],
    ['USDCNEAR', '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1', 'as an account'],
    ['RLUSDXRP', 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De', 'as its issuer'],
    ['USDCXLM', 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75', 'as a contract of Stellar'],
  ])('%s, %s, %s', (code, address) => {
    const asset = table.byCode(code) as Asset
    expect(isOn(asset.network, address)).toBe(true)
    expect(complaintOf(asset, address)).toBeDefined()
  })

  test('and each form of a wallet is one', () => {
    const refused = everyForm.flatMap(({ network, form, address }) => {
      const complaint = complaintOf(byNetwork.get(network)?.[0] as Asset, address)
      return complaint === undefined ? [] : [`${network}, ${form}: ${complaint}`]
    })
    expect(refused).toEqual([
      // The elector
      'TON, of the masterchain: it is a system address of the network TON, which pays nothing out',
      'TON, raw of the masterchain: it is a system address of the network TON, which pays nothing out',
      'TRX, contract: it is the contract of USDT on the network TRX, which pays nothing out',
      'XTZ, rollup: it is a rollup of the network XTZ, which holds no coins',
    ])
  })
})

test('M30: a text that is no address of any network is refused everywhere', () => {
  for (const network of byNetwork.keys()) {
    for (const text of ['not-an-address!', '', ' ', 'TWithdraw1', '0x', 'bc1', 'x'.repeat(256)]) {
      // Almost every short text is a name of NEAR.
      const isName = network === 'NEAR' && /^[a-z0-9]{2,31}$/.test(text)
      expect(isOn(network, text), `${network} ${text}`).toBe(isName)
    }
  }
})

test('M32: memos and tags of the networks that have them', () => {
  const rules = new Map(assets.flatMap(({ network, memo: rule }) => (rule ? [[network, rule] as const] : [])))
  const cosmosLike = ['AKT', 'ATOM', 'INJ', 'KAVA', 'LUNA', 'LUNC', 'OSMO', 'RUNE', 'TIA']
  const carriers = [...rules.keys()].filter((network) => rules.get(network) !== 'none')
  expect(carriers.toSorted()).toEqual([...cosmosLike, 'HBAR', 'STX', 'TON', 'XLM', 'XRP'].toSorted())
  for (const [network, rule] of rules) expect(isMemo('1234567890', rule), network).toBe(rule !== 'none')
  const isOf = (network: string, text: string): boolean => isMemo(text, rules.get(network) as NonNullable<Asset['memo']>)
  expect(['0', '1', '4294967295'].map((tag) => isOf('XRP', tag))).toEqual([true, true, true])
  expect(['tag', '-1', '1.5', '12345678901'].map((tag) => isOf('XRP', tag))).toEqual([false, false, false, false])
  expect(['hello world', '18446744073709551615', 'ab'.repeat(32)].map((text) => isOf('XLM', text))).toEqual([true, true, true])
  expect(isOf('XLM', 'x'.repeat(29))).toBe(false)
  expect(['4294967296', '9999999999', '012'].map((tag) => isOf('XRP', tag))).toEqual([false, false, false])
  const longest = { XLM: 28, STX: 34, HBAR: 100, ATOM: 256, TON: 1_000 }
  for (const [network, bytes] of Object.entries(longest)) {
    expect(isOf(network, 'é'.repeat(bytes / 2)), network).toBe(true)
    expect(isOf(network, `é${'x'.repeat(bytes - 1)}`), network).toBe(false)
    expect(isOf(network, 'one\ntwo'), network).toBe(false)
  }
  for (const network of ['TON', 'HBAR', ...cosmosLike]) expect(isOf(network, 'order 17, and a comment: ü')).toBe(true)
})

test.each([...byNetwork.keys()])("M39: the sandbox's deposit addresses on %s are valid, with a memo if needed", (network) => {
  for (let at = 0; at < 50; at++) {
    const address = depositAddress(networkOf(network), `id-${at}`, hashKey)
    expect(isOn(network, address), address).toBe(true)
  }
  const rule = byNetwork.get(network)?.[0]?.memo
  const hasMemo = rule !== undefined && rule !== 'none'
  expect(networkOf(network).hasMemo).toBe(hasMemo)
  if (hasMemo) expect(isMemo(memo('id-1', hashKey), rule)).toBe(true)
})

test('no pattern takes long, whatever a client sends', async () => {
  const matchAll = (): void => {
    for (const network of byNetwork.keys()) {
      for (const text of ['1', 'a', '0x', 'a.', 'a-', 'q', '0.0.1']) isOn(network, text.repeat(256).slice(0, 256))
    }
  }
  expect(await workMs(matchAll)).toBeLessThan(1_000)
})
