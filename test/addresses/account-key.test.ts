/** docs/contract.md §3.6: the ledger finds who has a deposit address by a key, which all spellings of an address share. */
import { expect, test } from 'vitest'
import { formatNames, formats } from '../../src/domain/address/formats.ts'
import { accountKey, paymentAddressKey, sameAddress } from '../../src/domain/address/same-address.ts'
import { addressesOf } from './generated.ts'
import { samples } from './samples.ts'

const written = [
  ...Object.values(samples).flatMap((forms) => Object.values(forms)),
  ...formatNames.flatMap((format) => [...addressesOf(format, 20)]),
  ...['0.0.0', '0.0.1234', 'f00', 'f01234567', `0.0.${'0'.repeat(24)}00000000000004d2`, `0.0.0x00${'ab'.repeat(19)}`],
]

test('all spellings of one address have one key', () => {
  const spelled = [...new Set(written.flatMap(spellingsOf))]
  const alike = Map.groupBy(
    spelled.flatMap((address) => accountsOf(address).map((account) => ({ account, address }))),
    ({ account }) => account,
  )
  const pairs = [...alike.values()].flatMap((same) =>
    same.flatMap(({ address: one }, at) => same.slice(at + 1).map(({ address: other }) => [one, other] as const)),
  )
  const equal = pairs.filter(([one, other]) => sameAddress(one, other))
  expect(equal.length).toBeGreaterThan(2_000)
  expect(equal.filter(([one, other]) => accountKey(one) !== accountKey(other))).toEqual([])
})

test('a memo in the address or beside it has one key', () => {
  const injected = 'inj1xmpkmxr4as00em23tc2zgmuyy2gr4h3wgcl6vd'
  const digits = formats.INJ.accountOf(injected)?.replace('account:', '0x')
  expect(paymentAddressKey({ address: injected, extraId: '7' })).toBe(paymentAddressKey({ address: digits, extraId: '7' }))
})

/** In capitals and small letters, and as digits, as far as these are addresses. */
function spellingsOf(address: string): readonly string[] {
  const digits = formatNames.flatMap((name) => {
    const hexadecimal = /^(?:account|number|id):([0-9a-f]+)$/.exec(formats[name].accountOf(address) ?? '')?.[1]
    if (hexadecimal === undefined) return []
    const filecoin = `0xff${hexadecimal.padStart(38, '0')}`
    return [hexadecimal, `0x${hexadecimal}`, `0x${hexadecimal.toUpperCase()}`, `0x${hexadecimal.padStart(40, '0')}`, filecoin]
  })
  const prefixed = digits.map((text) => text.replace('0x', '')).flatMap((text) => [`xdc${text}`, `ronin:${text}`, `0.0.${text}`])
  return [address, address.toUpperCase(), address.toLowerCase(), ...digits, ...prefixed]
}

function accountsOf(address: string): readonly string[] {
  const accounts = formatNames.flatMap((name) => {
    const account = formats[name].accountOf(address)
    return account === undefined ? [] : [`${name} ${account}`]
  })
  return [...new Set(accounts)]
}
