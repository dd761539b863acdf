/** Addresses of every form in use, by network: published ones, and some made here with the right checksum. */
import { createHash } from 'node:crypto'
import { bech32, bech32m, createBase58check } from '@scure/base'

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest())
const base58check = createBase58check(sha256)
const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37 + 11) % 256)

/** The hash of a key or script behind the prefix of its kind. */
function hashed(version: string): string {
  return base58check.encode(Uint8Array.of(...Buffer.from(version, 'hex'), ...bytes(20)))
}

function segwit(prefix: string, version: number, length: number): string {
  const encoding = version === 0 ? bech32 : bech32m
  return encoding.encode(prefix, [version, ...encoding.toWords(bytes(length))], false)
}

function plain(encoding: typeof bech32, prefix: string, length: number): string {
  return encoding.encode(prefix, encoding.toWords(bytes(length)), false)
}

type Forms = Readonly<Record<string, string>>

const ethereum: Forms = {
  'of both cases': '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'in lower case': '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  'in capitals': '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED',
}

export const samples: Readonly<Record<string, Forms>> = {
  ADA: {
    base: 'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x',
    pointer: 'addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k',
    enterprise: 'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8',
    'Byron, Icarus': 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi',
    'Byron, Daedalus': 'DdzFFzCqrhsrcTVhLygT24QwTnNqQqQ8mZrq5jykUzMveU26sxaH529kMpo7VhPrt5pwW3dXeB2k3EEvKcNBRmzCfcQ7dTkyGzTs658C',
  },
  ALGO: { account: '7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q' },
  ARBITRUM: ethereum,
  ATOM: { account: plain(bech32, 'cosmos', 20), module: plain(bech32, 'cosmos', 32) },
  AVAXC: ethereum,
  BASE: ethereum,
  BCH: {
    CashAddr: 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
    'CashAddr without its prefix': 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
    'CashAddr in capitals': 'BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A',
    'CashAddr of a script': 'ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq',
    older: '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu',
    'older, of a script': '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
  },
  BSC: ethereum,
  BTC: {
    'of a key': '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    'of a script': '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
    'witness of a key': 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    'in capitals': 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ',
    'witness of a script': 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    taproot: 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
    'witness to come': segwit('bc', 16, 40),
  },
  DASH: { 'of a key': hashed('4c'), 'of a script': hashed('10') },
  DOGE: { 'of a key': hashed('1e'), 'of a script': hashed('16') },
  DOT: {
    Polkadot: '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
    'of any network': '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
  },
  ETC: ethereum,
  ETH: ethereum,
  FIL: {
    id: 'f01234567',
    key: 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za',
    actor: 'f2m4f2dv7m35skytoqzsyrh5wqz3kxxfflxsha5za',
    BLS: 'f3vvmn62lofvhjd2ugzca6sof2j2ubwok6cj4xxbfzz4yuxfkgobpihhd2thlanmsh3w2ptld2gqkn2jvlss4a',
    delegated: 'f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa',
    Ethereum: ethereum['of both cases'] as string,
  },
  HBAR: {
    account: '0.0.123',
    'with a checksum': '0.0.123-vfmkw',
    'alias of a key': '0.0.302a300506032b6570032100114e6abc371b82dab5c15ea149f02d34a012087b163516dd70f44acafabf7777',
    'alias of a key, in base 32': '0.0.CIQAAAH4AY2OFK2FL37TSPYEQGPPUJRP4XTKWHD62HKPQX543DTOFFQ',
    'alias of Ethereum': ethereum['of both cases'] as string,
  },
  LTC: {
    'of a key': hashed('30'),
    'of a script': hashed('32'),
    'of a script, older': hashed('05'),
    'witness of a key': segwit('ltc', 0, 20),
    'in capitals': segwit('ltc', 0, 20).toUpperCase(),
    taproot: segwit('ltc', 1, 32),
    MWEB: segwit('ltcmweb', 0, 66),
  },
  NEAR: {
    named: 'alice.near',
    'named below': 'app_1.alice-2.near',
    implicit: '98793cd91a3f870fb126f66285808c7e094afcfc4eda8a970f6648cdf0dbd6de',
    Ethereum: ethereum['in lower case'] as string,
  },
  POLYGON: ethereum,
  SOL: {
    '44 letters': '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtVe',
    '43 letters': 'So11111111111111111111111111111111111111112',
  },
  TON: {
    raw: '0:ca6e321c7cce9ecedf0a8ca2492ec8592494aa5fb5ce0387dff96ef6af982a3e',
    bounceable: 'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPrHF',
    'not bounceable': 'UQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff-W72r5gqPuwA',
    'in the standard base 64': 'EQDKbjIcfM6ezt8KjKJJLshZJJSqX7XOA4ff+W72r5gqPrHF',
    'of the masterchain': 'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF',
    'raw of the masterchain': `-1:${'3'.repeat(64)}`,
  },
  TRX: { account: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  XLM: {
    account: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
    muxed: 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ',
    contract: 'CA3D5KRYM6CB7OWQ6TWYRR3Z4T7GNZLKERYNZGGA5SOAOPIFY6YQGAXE',
  },
  XMR: {
    standard: '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
    sub: '888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H',
    integrated: '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
  },
  XRP: {
    classic: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
    'classic, short': 'rrrrrrrrrrrrrrrrrrrrBZbvji',
    'X-address': 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ',
    'X-address with a tag': 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu',
  },
  XTZ: {
    tz1: hashed('06a19f'),
    tz2: hashed('06a1a1'),
    tz3: hashed('06a1a4'),
    tz4: hashed('06a1a6'),
    contract: hashed('025a79'),
    rollup: hashed('067c75'),
  },
  ZEC: {
    'of a key': hashed('1cb8'),
    'of a script': hashed('1cbd'),
    Sapling: plain(bech32, 'zs', 43),
    'unified, Orchard': plain(bech32m, 'u', 61),
    'unified of three': plain(bech32m, 'u', 128),
    'of an exchange': plain(bech32m, 'tex', 20),
  },
}
