/** docs/contract.md §3.6: the vectors of the standards, and addresses that pay nothing out. */
import { bech32m } from '@scure/base'
import { describe, expect, test } from 'vitest'
import { type FormatName, formats } from '../../src/domain/address/formats.ts'
import { byFormat, byNetwork, ownerlessKind } from '../../src/domain/address/ownerless.ts'
import { splitAddress } from '../../src/domain/address/same-address.ts'

const key = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
const muxed = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'
const ton = 'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHF'

describe('M30: valid by its standard', () => {
  test.each<[FormatName, string]>([
    // BIP 173 and BIP 350
    ['BTC', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    ['BTC', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
    ['BTC', 'BC1SW50QGDZ25J'],
    ['BTC', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
    ['BTC', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
    // The CashAddr specification
    ['BCH', 'bitcoincash:qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy'],
    ['BCH', 'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq'],
    // Filecoin's specification
    ['FIL', 'f17uoq6tp427uzv7fztkbsnn64iwotfrristwpryy'],
    ['FIL', 'f24vg6ut43yw2h2jqydgbg2xq7x6f4kub3bg6as6i'],
    ['FIL', 'f3vvmn62lofvhjd2ugzca6sof2j2ubwok6cj4xxbfzz4yuxfkgobpihhd2thlanmsh3w2ptld2gqkn2jvlss4a'],
    // SEP-23
    ['XLM', key],
    ['XLM', muxed],
    ['XLM', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK'],
    // EIP-55
    ['ETH', '0x52908400098527886E0F7030069857D2E4169EE7'],
    ['ETH', '0xde709f2102306220921060314715629080e2fb77'],
    ['ETH', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
    ['ETH', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'],
    // Zilliqa has a checksum of its own
    ['ZIL', '0x4BAF5faDA8e5Db92C3d3242618c5B47133AE003C'],
    ['ZIL', '0x448261915a80cdE9BDE7C7a791685200D3A0bf4E'],
    // c32check
    ['STX', 'SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7'],
    ['STX', 'SP000000000000000000002Q6VF78'],
    // starknet.js 7.1.0, getChecksumAddress
    ['STRK', '0x049D36570D4e46f48e99674bd3fcc84644DdD6b96F7C741B1562B82f9e004dC7'],
    ['STRK', '0x49D36570D4e46f48e99674bd3fcc84644DdD6b96F7C741B1562B82f9e004dC7'],
    // starknet 10.8.0, getChecksumAddress: of a number with two bytes of zeros
    ['STRK', '0x0000C0FFEEc0fFEEc0fFeeC0FfeEC0FFEEc0ffEEc0ffEeC0ffEEc0Ffeec0Ffee'],
    // zcash/zcash-test-vectors 667c929, unified_address.json: Orchard; Sapling and transparent; all three
    ['ZEC', 'u1ddnjsdcpm36r6aq79n3s68shjweksnmwtdltrh046s8m6xcws9ygyawalxx8n6hg6vegk0wh8zjnafxgh6msppjsljvyt0ynece3lvm0'],
    [
      'ZEC',
      'u1l8xunezsvhq8fgzfl7404m450nwnd76zshscn6nfys7vyz2ywyh4cc5daaq0c7q2su5lqfh23sp7fkf3kt27ve5948mzpfdvckzaect2jtte308mkwlycj2u0eac077wu70vqcetkxf',
    ],
    [
      'ZEC',
      'u1pg2aaph7jp8rpf6yhsza25722sg5fcn3vaca6ze27hqjw7jvvhhuxkpcg0ge9xh6drsgdkda8qjq5chpehkcpxf87rnjryjqwymdheptpvnljqqrjqzjwkc2ma6hcq666kgwfytxwac8eyex6ndgr6ezte66706e3vaqrd25dzvzkc69kw0jgywtd0cmq52q5lkw6uh7hyvzjse8ksx',
    ],
    // zcash/librustzcash 05b8520, components/zcash_address/src/encoding.rs: Sapling
    ['ZEC', 'zs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpq6d8g'],
    // ledger-icp: AccountIdentifier.fromHex takes both cases
    ['ICP', '529EA51C22E8D66E8302EABD9297B100FDB369109822248BB86939A671FBC55B'],
    // @injectivelabs/sdk-ts: getEthereumAddress gives the bytes of inj1… as 0x…
    ['INJ', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ])('%s %s', (name, address) => {
    expect(formats[name].accountOf(address)).toBeDefined()
  })
})

describe('M31: invalid by its standard', () => {
  test.each<[FormatName, string, string]>([
    // BIP 350
    ['BTC', 'of another network', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty'],
    ['BTC', 'taproot with the checksum of bech32', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
    ['BTC', 'version 0 with the checksum of bech32m', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
    ['BTC', 'version 16 with the checksum of bech32', 'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL'],
    ['BTC', 'a letter that bech32 lacks', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
    ['BTC', 'version 17', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
    ['BTC', 'a program of one byte', 'bc1pw5dgrnzv'],
    ['BTC', 'a program of 41 bytes', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav'],
    ['BTC', 'version 0 with a program of 16 bytes', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    ['BTC', 'of both cases', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5Jj0'],
    ['BTC', 'padding of more than four bits', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf'],
    ['BTC', 'without data', 'bc1gmk9yu'],
    // SEP-23
    ['XLM', 'five bytes', 'GAAAAAAAACGC6'],
    ['XLM', 'an unused bit that is not zero', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR'],
    ['XLM', 'one letter more', `${key}A`],
    ['XLM', '36 bytes', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI'],
    ['XLM', 'another algorithm', 'G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I'],
    ['XLM', 'another algorithm, muxed', 'M47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'],
    ['XLM', 'padding', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUK==='],
    ['XLM', 'a wrong checksum', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUO'],
    ['XLM', 'a secret key', 'SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR'],
    // Lengths
    ['SOL', '31 bytes', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWW'.slice(0, 42)],
    ['SOL', '33 bytes', `z${'z'.repeat(43)}`],
    ['SOL', 'bech32 without a 0 or an l', 'osmo1j6nppthrwdddvekh5s9q7qcynzmt3vnwvn32an'],
    ['ADA', 'of a test network', 'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz'],
    ['ADA', 'for stakes', 'stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw'],
    ['ADA', 'Byron, of a test network', '2cWKMJemoBajc46Wu4Z7e6bG48myZWfB7Z6pD77L6PrJQWt9HZ3Yv7o8CYZTBMqHTPTkv'],
    ['FLOW', 'of the test network', '0x8c5303eaa26202d6'],
    ['HBAR', 'a wrong checksum', '0.0.123-vfmkx'],
    ['STRK', 'above the field', `0x0${'f'.repeat(63)}`],
    ['STRK', 'a wrong digit in both cases', '0x049D36570D4e46f48e99674bd3fcc84644DdD6b96F7C841B1562B82f9e004dC7'],
    ['STRK', 'a wrong case', '0x049D36570D4e46f48e99674bd3fcc84644DdD6b96f7C741B1562B82f9e004dC7'],
    ['INJ', 'a wrong case', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['TON', 'of the test network', 'kQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPgpP'],
    ['TON', 'a wrong checksum', `${ton.slice(0, -1)}G`],
    ['NEAR', 'an address of another network', '0.0.123'],
    ['NEAR', 'an address of another network without a dot', 'f0100'],
    ['NEAR', 'a name of 32 letters at the top', 'a'.repeat(32)],
    ['NEAR', 'a name of 65 letters', `${'a'.repeat(60)}.near`],
    ['NEAR', 'a name of one letter', 'a'],
    ['ICP', 'a principal in other groups', 'ryjl3tyaaaaaaaaaaabacai'],
  ])('%s: %s', (name, _, address) => {
    expect(formats[name].accountOf(address)).toBeUndefined()
  })
})

describe('M40: nobody pays out from', () => {
  test.each<[FormatName, 'zero' | 'system' | 'burn', string]>([
    ['ETH', 'zero', `0x${'0'.repeat(40)}`],
    ['ETH', 'system', '0x0000000000000000000000000000000000000001'],
    ['ETH', 'system', '0x4200000000000000000000000000000000000006'],
    ['ETH', 'system', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'],
    ['ETH', 'burn', '0x000000000000000000000000000000000000dEaD'],
    ['XDC', 'zero', `xdc${'0'.repeat(40)}`],
    ['RONIN', 'burn', 'ronin:000000000000000000000000000000000000dead'],
    ['BTC', 'zero', '1111111111111111111114oLvT2'],
    ['BTC', 'burn', '1BitcoinEaterAddressDontSendf59kuE'],
    ['BTC', 'burn', '1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
    ['TRX', 'zero', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['SOL', 'system', '11111111111111111111111111111111'],
    ['SOL', 'burn', '1nc1nerator11111111111111111111111111111111'],
    ['XRP', 'zero', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp'],
    ['XRP', 'system', 'rrrrrrrrrrrrrrrrrrrrBZbvji'],
    ['XRP', 'burn', 'rrrrrrrrrrrrrrrrrNAMEtxvNvQ'],
    ['XLM', 'zero', 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF'],
    ['XLM', 'burn', 'GALAXYVOIDAOPZTDLHILAJQKCVVFMD4IKLXLSZV5YHO7VY74IWZILUTO'],
    ['XNO', 'zero', 'nano_1111111111111111111111111111111111111111111111111111hifc8npp'],
    ['ALGO', 'zero', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ'],
    ['ALGO', 'system', 'Y76M3MSY6DKBRHBL7C3NNDXGS5IIMQVQVUAB6MP4XEMMGVF2QWNPL226CA'],
    ['DOT', 'system', '13UVJyLnbVp9RBZYFwFGyDvVd1y27Tt8tkntv6Q7JVPhFsTB'],
    ['DOGE', 'burn', 'DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
    ['TRX', 'burn', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
    ['RUNE', 'system', 'thor1g98cy3n9mmjrpn0sxmn63lztelera37n8n67c0'],
    ['MINA', 'zero', 'B62qiTKpEPjGTSHZrtM8uXiKgn8So916pLmNJKDhKeyBQL9TDb3nvBG'],
    ['DOT', 'zero', '111111111111111111111111111111111HC1'],
    ['TON', 'zero', 'EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c'],
    ['STX', 'zero', 'SP000000000000000000002Q6VF78'],
    ['XTZ', 'burn', 'tz1burnburnburnburnburnburnburjAYjjX'],
    ['FIL', 'burn', 'f099'],
    ['FIL', 'system', 'f05'],
    ['SEI', 'burn', '0x000000000000000000000000000000000000dEaD'],
    ['HBAR', 'burn', '0x000000000000000000000000000000000000dEaD'],
    ['HBAR', 'zero', '0.0.0'],
    ['HBAR', 'system', '0.0.800'],
    ['NEAR', 'system', 'system'],
    ['NEAR', 'zero', '0'.repeat(64)],
    ['APT', 'system', `0x${'1'.padStart(64, '0')}`],
    ['SUI', 'zero', `0x${'0'.repeat(64)}`],
    ['ATOM', 'system', 'cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh'],
    ['EGLD', 'system', 'erd1qqqqqqqqqqqqqqqpqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqplllst77y4l'],
    ['ROSE', 'burn', 'oasis1qzq8u7xs328puu2jy524w3fygzs63rv3u5967970'],
    ['ICX', 'system', 'hx1000000000000000000000000000000000000000'],
    ['ICP', 'system', 'aaaaa-aa'],
  ])('%s, %s: %s', (name, kind, address) => {
    expect(ownerlessKind(address, name)).toBe(kind)
  })

  test('each listed address, and not from others', () => {
    const lists = [
      ...Object.entries(byFormat).map(([name, list]) => ({ name: name as FormatName, networks: [], list })),
      ...Object.entries(byNetwork).map(([network, list]) => ({ name: 'ETH' as const, networks: [network], list })),
    ]
    for (const { name, networks, list } of lists) {
      const listed = [...(list.system ?? []), ...(list.burn ?? [])]
      expect(
        listed.filter((address) => ownerlessKind(address, name, networks) === undefined),
        name,
      ).toEqual([])
    }
    expect(ownerlessKind('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'ETH')).toBeUndefined()
    expect(ownerlessKind('no address', 'ETH')).toBeUndefined()
  })

  test.each<[string, FormatName, string]>([
    ['HYPEEVM', 'ETH', '0x2222222222222222222222222222222222222222'],
    ['hyperevm', 'ETH', '0x20000000000000000000000000000000000000C8'],
    ['HYPEEVM', 'ETH', '0x2000000000000000000000000000000000000000'],
    ['AVAXC', 'ETH', '0x0200000000000000000000000000000000000005'],
    ['SEI', 'ETH', '0x0000000000000000000000000000000000001001'],
    ['SEI', 'ETH', '0xf1829676db577682e944fc3493d451b67ff3e29f'],
    ['KAVA', 'KAVA', '0x0000000000000000000000000000000000000001'],
    ['KAVA', 'KAVA', 'kava17xpfvakm2amg962yls6f84z3kell8c5lvvhaa6'],
    ['FIL', 'FIL', '0xfe00000000000000000000000000000000000003'],
    ['FIL', 'FIL', '0xff00000000000000000000000000000000000005'],
    ['VET', 'ETH', '0x0000000000000000000000000000456E65726779'],
    ['SOL', 'SOL', 'BPFLoaderUpgradeab1e11111111111111111111111'],
    ['SOL', 'SOL', 'SysvarS1otHashes111111111111111111111111111'],
    ['TON', 'TON', 'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF'],
    ['TON', 'TON', `-1:${'5'.repeat(64)}`],
    ['STRK', 'STRK', '0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d'],
  ])("%s: the network's own, %s %s", (network, name, address) => {
    expect(ownerlessKind(address, name, [network])).toBe('system')
  })

  test("and on other networks these are anybody's", () => {
    expect(ownerlessKind('0x2222222222222222222222222222222222222222', 'ETH', ['ETH'])).toBeUndefined()
    expect(ownerlessKind('0x20000000000000000000000000000000000000c8', 'ETH', ['BASE', 'AVAXC'])).toBeUndefined()
  })
})

/** BIP 341, wallet-test-vectors.json, and the same with a key that is no coordinate of the curve. */
test('M40: nobody has the key of taproot off the curve', () => {
  expect(ownerlessKind('bc1p2wsldez5mud2yam29q22wgfh9439spgduvct83k3pm50fcxa5dps59h4z5', 'BTC')).toBeUndefined()
  const off = (prefix: string, version = 1) => bech32m.encode(prefix, [version, ...bech32m.toWords(new Uint8Array(32).fill(5))])
  expect(ownerlessKind(off('bc'), 'BTC')).toBe('keyless')
  expect(ownerlessKind(off('ltc'), 'LTC')).toBe('keyless')
  expect(ownerlessKind(off('bc', 2), 'BTC')).toBeUndefined()
})

test('M40: a rollup of Tezos holds no coins', () => {
  expect(ownerlessKind('sr1RYurGZtN8KNSpkMcCt9CgWeUaNkzsAfXf', 'XTZ')).toBe('rollup')
})

describe('M40: accounts of contracts and programs may be wallets', () => {
  test.each<[string, FormatName, string]>([
    ['an account of a program of Solana, off the curve', 'SOL', 'GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ'],
    ['a contract of Tezos', 'XTZ', 'KT1PWx2mnDueood7fEmfbBDKx1D9BAnnXitn'],
    ['a contract of Stellar', 'XLM', 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE'],
    ['a Safe of Ethereum', 'ETH', '0x849D52316331967b6fF1198e5E32A0eB168D039d'],
    ['an account of Starknet', 'STRK', '0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7'],
    ['a wallet of TON', 'TON', ton],
    ['a contract of NEAR', 'NEAR', 'lockup.sputnik-dao.near'],
    ['a deterministic account of NEAR', 'NEAR', `0s${'ab'.repeat(20)}`],
    ['an actor of Filecoin', 'FIL', 'f2m4f2dv7m35skytoqzsyrh5wqz3kxxfflxsha5za'],
  ])('%s', (_, name, address) => {
    expect(formats[name].accountOf(address)).toBeDefined()
    expect(ownerlessKind(address, name, [name])).toBeUndefined()
  })
})

test('M38: what one text holds: an account and a memo', () => {
  expect(splitAddress(muxed)).toEqual({ address: key, memo: '0' })
  expect(splitAddress('MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK')?.memo).toBe('9223372036854775808')
  expect(splitAddress('X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu')).toEqual({
    address: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
    memo: '1',
  })
  for (const address of [key, 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ', ton, '']) {
    expect(splitAddress(address)).toBeUndefined()
  }
})
