// Takes long: thousands of generated addresses.
/** docs/contract.md §3.6, for many addresses: `SWAPGATE_ADDRESSES=10000` for more of them. */
import validator from 'multicoin-address-validator'
import { describe, expect, test } from 'vitest'
import { type FormatName, formatNames, formats } from '../../src/domain/address/formats.ts'
import { ownerlessKind } from '../../src/domain/address/ownerless.ts'
import { addressesOf, withTypo } from './generated.ts'

const count = Number(process.env.SWAPGATE_ADDRESSES ?? 1_000)
/** Forms without a checksum. */
const unchecked = /^(?:0x|0:|hx|cx)?(?:[0-9a-f]{40}|[0-9a-f]{62,})$|^0\.0\.[0-9]+$|\.near$/

/** The share of changed letters that a checksum may miss: of two bytes, of the case of letters, of the case or none; 0 elsewhere. */
const missed: Partial<Record<FormatName, number>> = {
  DOT: 1e-4,
  KSM: 1e-4,
  TAO: 1e-4,
  ETH: 1e-3,
  FIL: 1e-3,
  KAVA: 1e-3,
  RONIN: 1e-3,
  INJ: 1e-3,
  SEI: 1e-3,
  STRK: 1e-3,
  XDC: 1e-3,
  // Either of two rules for the case of letters.
  ZIL: 2e-3,
}

describe.each(formatNames)('%s', (name) => {
  test(`M30: none of ${count} valid addresses is refused`, () => {
    const refused = [...addressesOf(name, count)].filter(
      (address) => formats[name].accountOf(address) === undefined || ownerlessKind(address, name) !== undefined,
    )
    expect(refused).toEqual([])
  }, 60_000)

  test.skipIf(name === 'SOL' || name === 'NEAR')(
    'M31: one with another letter is, if it has a checksum',
    () => {
      const typos = [...addressesOf(name, count)].filter((address) => !unchecked.test(address)).map(withTypo)
      const taken = typos.filter((address) => formats[name].accountOf(address) !== undefined)
      expect(taken.length, taken.join(' ')).toBeLessThanOrEqual((missed[name] ?? 0) * count)
    },
    60_000,
  )
})

describe('M31: another library takes what is taken, of valid addresses and of those with another letter', () => {
  const both = {
    ADA: 'ada',
    ALGO: 'algo',
    BTC: 'btc',
    DASH: 'dash',
    DCR: 'dcr',
    DGB: 'dgb',
    DOGE: 'doge',
    DOT: 'dot',
    ETH: 'eth',
    TRX: 'trx',
    XLM: 'xlm',
    XMR: 'xmr',
    XNO: 'nano',
    XTZ: 'xtz',
  } as const
  test.each(Object.entries(both) as readonly (readonly [keyof typeof both, string])[])('%s', (name, currency) => {
    const valid = [...addressesOf(name, 100)]
    const taken = [...valid, ...valid.map(withTypo)].filter((address) => formats[name].accountOf(address) !== undefined)
    const others = taken.filter((address) => !validator.validate(address, currency))
    expect(others).toEqual([])
  })
})
