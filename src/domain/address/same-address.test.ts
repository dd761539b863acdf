import { describe, expect, test } from 'vitest'
import { memoOf, sameAddress } from './same-address.ts'

const cash = 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'
const bareCash = cash.slice('bitcoincash:'.length)
const legacy = '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu'
const ton = {
  raw: '0:ca6e321c7cce9ecedf0a8ca2492ec8592494aa5fb5ce0387dff96ef6af982a3e',
  bounceable: 'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHF',
  notBounceable: 'UQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPuwA',
}
const ripple = {
  classic: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
  withoutTag: 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ',
  withTag1: 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu',
}
const hexadecimal = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'
const segwit = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const tron = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const stellar = 'GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7'

describe('two spellings of one address', () => {
  test.each([
    ['the same text', 'T-withdraw', 'T-withdraw'],
    ['0x in other case', hexadecimal, hexadecimal.toLowerCase()],
    ['bech32 in capitals', segwit.toUpperCase(), segwit],
    ['CashAddr without its prefix', cash, bareCash],
    ['CashAddr in capitals', cash.toUpperCase(), bareCash],
    ['CashAddr and the older spelling', cash, legacy],
    ['CashAddr without its prefix and the older spelling', bareCash, legacy],
    [
      'CashAddr of a script and the older spelling',
      '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
      'ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq',
    ],
    ['TON raw and bounceable', ton.raw, ton.bounceable],
    ['TON raw in capitals', ton.raw.toUpperCase(), ton.notBounceable],
    ['TON bounceable and not', ton.bounceable, ton.notBounceable],
    ['TON in the standard base 64', ton.bounceable.replaceAll('-', '+').replaceAll('_', '/'), ton.bounceable],
    ['an X-address without a tag', ripple.withoutTag, ripple.classic],
    ['an X-address with a tag', ripple.withTag1, ripple.classic],
  ])('%s', (_, one, other) => {
    expect(sameAddress(one, other)).toBe(true)
    expect(sameAddress(other, one)).toBe(true)
  })
})

describe('two addresses', () => {
  test.each([
    ['base 58 in other case', tron, tron.toLowerCase()],
    ['base 58 with one letter in other case', tron, tron.replace('Q', 'q')],
    ['base 32 in other case', stellar, stellar.toLowerCase()],
    ['bech32 of both cases', segwit, `B${segwit.slice(1)}`],
    ['another bech32', segwit, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['0x with another digit', hexadecimal, hexadecimal.replace('01', '02')],
    ['CashAddr of a key and of a script with the same hash', bareCash, 'ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq'],
    ['CashAddr with a wrong checksum and the older spelling', `${bareCash.slice(0, -1)}q`, legacy],
    ['CashAddr and an older spelling with a wrong checksum', bareCash, `${legacy.slice(0, -1)}v`],
    ['CashAddr and another older spelling', bareCash, '1KXrWXciRDZUpQwQmuM1DbwsKDLYAYsVLR'],
    ['TON of another workchain', ton.raw, ton.raw.replace('0:', '-1:')],
    ['TON with a wrong checksum', ton.raw, `${ton.bounceable.slice(0, -1)}G`],
    ['X-addresses with different tags', ripple.withTag1, ripple.withoutTag],
    ['an X-address with a wrong checksum', `${ripple.withTag1.slice(0, -1)}v`, ripple.classic],
    ['an X-address and another account', ripple.withTag1, 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
    ['a name in other case', 'alice.near', 'Alice.near'],
  ])('%s', (_, one, other) => {
    expect(sameAddress(one, other)).toBe(false)
    expect(sameAddress(other, one)).toBe(false)
  })
})

test('the tag in an X-address is its memo, unless there is a separate one', () => {
  expect(memoOf(ripple.withTag1, undefined)).toBe('1')
  expect(memoOf(ripple.withTag1, '')).toBe('1')
  expect(memoOf(ripple.withTag1, '2')).toBe('2')
  expect(memoOf(ripple.withoutTag, undefined)).toBeUndefined()
  expect(memoOf(ripple.classic, '7')).toBe('7')
  expect(memoOf(undefined, undefined)).toBeUndefined()
})

test('hostile texts take no longer', () => {
  const texts = ['0x', 'a1', 'X', 'r', 'bitcoincash:q', '0:'].map((start) => start + 'z'.repeat(100_000))
  const began = performance.now()
  for (const one of texts) for (const other of texts) sameAddress(one, `${other}a`)
  expect(performance.now() - began).toBeLessThan(500)
})
