import { describe, expect, test } from 'vitest'
import { workMs } from '../../../test/support/work.ts'
import { hasTwoMemos, memoOf, sameAddress, takesNoMemo } from './same-address.ts'

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
const muxedAccount = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
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
    ['TON raw in capitals and in the standard base 64', ton.raw.toUpperCase(), ton.bounceable.replaceAll('-', '+')],
    ['Litecoin of a script, older', 'M9wBHGJQTrxrp7GLJ23A5qv9XfAmuxQrPt', '33j2yNtSWk7S1bzSC93pGCfkCxaKyxuZB9'],
    [
      'Nano with its older prefix',
      'nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3',
      'xrb_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3',
    ],
    ['XDC with its own prefix', 'xdc5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['Ronin with its own prefix', 'ronin:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['without leading zeros', `0x00${'a1'.repeat(31)}`, `0x${'a1'.repeat(31)}`],
    ['Hedera with a checksum', '0.0.123-vfmkw', '0.0.123'],
    ["Hedera's number as Ethereum's machine has it", '0.0.123', '0x000000000000000000000000000000000000007b'],
    ['Zilliqa in bech32', 'zil1fwh4ltdguhde9s7nysnp33d5wye6uqpugufkz7', '0x4BAF5faDA8e5Db92C3d3242618c5B47133AE003C'],
    [
      "Filecoin as Ethereum's machine has it",
      'f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa',
      '0x52963ef50e27e06d72d59fcb4f3c2a687be3cfef',
    ],
    [
      'Polkadot of any network',
      '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
      '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
    ],
    ['an account of Stellar, muxed', `MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ`, muxedAccount],
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
    ['Hedera with a wrong checksum', '0.0.123-vfmkx', '0.0.123'],
    [
      'Nano with a wrong checksum',
      'nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr1',
      'xrb_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3',
    ],
    [
      'muxed accounts of different ids',
      'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ',
      'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK',
    ],
    [
      'accounts of Sei in its two encodings',
      'sei155hqv2rsypqzq0zpjn72frsxx4l6tcmplw63m2',
      '0xa52e0628702040203c4194fca48e06357fa5e361',
    ],
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
  expect(memoOf('MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK', undefined)).toBe('9223372036854775808')
  expect(memoOf(undefined, undefined)).toBeUndefined()
})

const hash = 'ab'.repeat(32)
const monero = {
  integrated: '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
  standard: '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge',
}

test('a hash of Stellar is one memo in hexadecimal digits of either case, and in base 64', () => {
  for (const spelling of [hash, hash.toUpperCase(), Buffer.from(hash, 'hex').toString('base64')])
    expect(memoOf(stellar, spelling)).toBe(hash)
  expect(memoOf(ton.raw, hash.toUpperCase())).toBe(hash.toUpperCase())
})

test('an integrated address of Monero holds a payment id', () => {
  const paymentId = memoOf(monero.integrated, undefined)
  expect(paymentId).toMatch(/^[0-9a-f]{16}$/)
  expect(memoOf(monero.standard, paymentId?.toUpperCase())).toBe(paymentId)
  expect(memoOf(monero.standard, undefined)).toBeUndefined()
  expect(sameAddress(monero.integrated, monero.standard)).toBe(true)
  expect(hasTwoMemos({ address: monero.integrated, extraId: '1122334455667788' })).toBe(true)
  expect(hasTwoMemos({ address: monero.integrated, extraId: paymentId })).toBe(false)
})

test('a memo beside an address must be the one in it', () => {
  expect(hasTwoMemos({ address: ripple.withTag1, extraId: '2' })).toBe(true)
  expect(hasTwoMemos({ address: ripple.withTag1, extraId: '001' })).toBe(false)
  expect(hasTwoMemos({ address: ripple.withTag1, extraId: '' })).toBe(false)
  expect(hasTwoMemos({ address: ripple.classic, extraId: '2' })).toBe(false)
  const muxed = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'
  expect(hasTwoMemos({ address: muxed, extraId: '0' })).toBe(false)
  expect(hasTwoMemos({ address: muxed, extraId: '7' })).toBe(true)
})

test('neither a contract of Stellar nor Monero takes a memo', () => {
  expect(takesNoMemo(monero.standard)).toBe(true)
  expect(takesNoMemo(monero.integrated)).toBe(true)
  expect(takesNoMemo('CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE')).toBe(true)
  expect(takesNoMemo(stellar)).toBe(false)
})

test('a tag of the XRP Ledger is an integer; every other memo is its bytes', () => {
  expect(memoOf(ripple.classic, '0012')).toBe('12')
  expect(memoOf(ripple.withoutTag, '000')).toBe('0')
  expect(memoOf(ripple.classic, '0x12')).toBe('0x12')
  expect(memoOf(stellar, '0012')).toBe('0012')
  expect(memoOf(undefined, '0012')).toBe('0012')
})

test('hostile texts take no longer', async () => {
  const texts = ['0x', 'a1', 'X', 'r', 'bitcoincash:q', '0:'].map((start) => start + 'z'.repeat(100_000))
  const compareAll = (): void => {
    for (const one of texts) for (const other of texts) sameAddress(one, `${other}a`)
  }
  expect(await workMs(compareAll)).toBeLessThan(500)
})
