/** More of them: networks with the addresses of Ethereum, networks like Cosmos, and others. */
import { bech32 } from '@scure/base'
import { base58check, bytes, ethereum, type Forms, hashed, plain, segwit } from './encodings.ts'

type Samples = Readonly<Record<string, Forms>>

const alikes = [
  ...['BERA', 'CELO', 'CORE', 'CRONOS', 'ETHW', 'FLR', 'GLMR', 'HYPEEVM', 'KAIA', 'LINEA', 'MNT', 'MONAD', 'OPTIMISM'],
  ...['PLASMA', 'PLS', 'SEI', 'SONIC', 'STORY', 'THETA', 'VET', 'ZKSYNC'],
]

export const kinOfEthereum: Samples = {
  ...Object.fromEntries(alikes.map((network) => [network, ethereum])),
  RONIN: {
    ...ethereum,
    'with its own prefix': 'ronin:dc05ecd5fbdb64058d94f3182d66f44342b9adcb',
    'with its own prefix, of both cases': 'ronin:5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  },
  XDC: { ...ethereum, 'with its own prefix': 'xdc5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
}

const terra: Forms = { account: 'terra1jlgaqy9nvn2hf5t2sra9ycz8s77wnf9l0kmgcp', contract: plain(bech32, 'terra', 32) }

export const kinOfCosmos: Samples = {
  AKT: { account: 'akash1f4nskxfw8ufhwnajh7xwt0wmdtxm02vwta6krg' },
  INJ: { account: 'inj1xmpkmxr4as00em23tc2zgmuyy2gr4h3wgcl6vd', Ethereum: ethereum['of both cases'] as string },
  KAVA: { account: 'kava1xd39avn2f008jmvua0eupg39zsp2xn3wf802vn', Ethereum: ethereum['of both cases'] as string },
  LUNA: terra,
  LUNC: terra,
  OSMO: { account: 'osmo1mky69cn8ektwy0845vec9upsdphktxt0en97f5', contract: plain(bech32, 'osmo', 32) },
  RUNE: { account: 'thor196yf4pq80hjrmz7nnh0ar0ypqg02r0w4dq4mzu' },
  TIA: { account: plain(bech32, 'celestia', 20) },
}

export const others: Samples = {
  APT: {
    account: '0xeeff357ea5c1a4e7bc11b2b17ff2dc2dcca69750bfef1e1ebcaccf8c8018175b',
    'without its leading zeros': '0x60ad80e8cdadb81399e8a738014bc9ec865cef842f7c2cf7d84fbf7e40d065',
  },
  BSV: { 'of a key': '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa' },
  DCR: { 'of a key': 'DsUZxxoHJSty8DCfwfartwTYbuhmVct7tJu', 'of a Schnorr key': 'DSV2fn78uyYtadkqmfgUbNiWAHbPhK9yy5q' },
  DGB: {
    'of a key': hashed('1e'),
    'of a script': hashed('3f'),
    'of a script, older': hashed('05'),
    'witness of a key': segwit('dgb', 0, 20),
  },
  EGLD: { contract: 'erd1qqqqqqqqqqqqqpgqhe8t5jewej70zupmh44jurgn29psua5l2jps3ntjj3', account: plain(bech32, 'erd', 32) },
  FLOW: { account: '0x1654653399040a61', 'of another': '0xe467b9dd11fa00df' },
  ICP: {
    account: '529ea51c22e8d66e8302eabd9297b100fdb369109822248bb86939a671fbc55b',
    'account in capitals': '529EA51C22E8D66E8302EABD9297B100FDB369109822248BB86939A671FBC55B',
    principal: 'ryjl3-tyaaa-aaaaa-aaaba-cai',
    'with a subaccount':
      'k2t6j-2nvnp-4zjm3-25dtz-6xhaa-c7boj-5gayf-oj3xs-i43lp-teztq-6ae-dfxgiyy.102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20',
  },
  ICX: { account: 'hx4873b94352c8c1f3b2f09aaeccea31ce9e90bd31', contract: 'cx9ab3078e72c8d9017194d17b34b1a47b661945ca' },
  IOTA: { account: `0x${Buffer.from(bytes(32)).toString('hex')}` },
  KAS: {
    'of a key': 'kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73',
    'without its prefix': 'qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73',
    // @dfns/kaspa-wasm 0.14.1: toAddressECDSA and createMultisigAddress, of the private keys 11…11 and 22…22
    'of an ECDSA key': 'kaspa:qyp57d2mmjmuczhh9rhnen4ev9weq6ztkkev5hu9n2c0pdcyqav8r2sh8cvyv4x',
    'of a script': 'kaspa:prvk7nar4t4frscetnkewtxl4z08d80706qzx5l62w3acuukurxnsjlylvcp2',
  },
  KSM: {
    account: 'FfnS7Vk2i19AdFMf6D8ZRVUhNsYWVtsLmqQEnAmTqQBqsSy',
    'of any network': '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
  },
  MINA: {
    account: 'B62qre3erTHfzQckNuibViWQGyyKwZseztqrjPZBv6SQF384Rg6ESAy',
    'made here': base58check.encode(Uint8Array.of(0xcb, 0x01, 0x01, ...bytes(32), 0x01)),
  },
  QTUM: {
    'of a key': hashed('3a'),
    'of a script': hashed('32'),
    'witness of a key': 'qc1qn9gjawre2t6xmcv5gyqkujqhd8cfvvyx0rx2mp',
  },
  ROSE: { account: 'oasis1qrx376dmwuckmruzn9vq64n49clw72lywctvxdf4' },
  STRK: {
    account: '0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7',
    'of both cases': '0x049D36570D4e46f48e99674bd3fcc84644DdD6b96F7C741B1562B82f9e004dC7',
  },
  STX: { account: 'SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7' },
  SUI: { account: '0x54e80d76d790c277f5a44f3ce92f53d26f5894892bf395dee6375988876be6b2' },
  TAO: { account: '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY' },
  XNO: {
    account: 'nano_1wpj616kwhe1y38y1mspd8aub8i334cwybqco511iyuxm55zx8d67ptf1tsf',
    'with its older prefix': 'xrb_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3',
  },
  ZIL: { account: 'zil1fwh4ltdguhde9s7nysnp33d5wye6uqpugufkz7', Ethereum: ethereum['of both cases'] as string },
}
