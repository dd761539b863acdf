/**
 * What decodes the addresses of each network. One table, by the name of the network, from the networks' own documentation. Networks with
 * the same addresses share an entry: those of Ethereum's machine have `ETH`.
 */
import {
  base58Check,
  bech32Account,
  bitcoinCash,
  type Decoder,
  ethereumAccount,
  firstOf,
  hexadecimal,
  isStarknetCase,
  rippleAccount,
  segwit,
  ss58,
  tonAccount,
} from './decoders.ts'
import { fromBech32, fromMweb } from './encoding.ts'
import {
  algorand,
  byron,
  decred,
  filecoin,
  filecoinAccount,
  flow,
  hedera,
  hederaAccount,
  internetComputer,
  isNearName,
  isZilliqaCase,
  kaspa,
  monero,
  nano,
  nearAccount,
  shelley,
  solana,
  stacks,
  stellar,
} from './standards.ts'

export interface AddressFormat {
  /** The account behind an address as `kind:hexadecimal digits`, or a name; undefined if it is no address of the network. */
  readonly accountOf: Decoder
}

const ethereum = ethereumAccount()

function cosmos(prefix: string, more: Decoder = () => undefined): AddressFormat {
  return { accountOf: firstOf(bech32Account(prefix, [20, 32]), more) }
}

export const formats = {
  ADA: { accountOf: firstOf(shelley, byron) },
  AKT: cosmos('akash'),
  ALGO: {
    accountOf: algorand,
  },
  APT: { accountOf: hexadecimal({ minDigits: 60, maxDigits: 64 }) },
  ATOM: cosmos('cosmos'),
  BCH: {
    accountOf: firstOf(base58Check(/^[13]/, { key: '00', script: '05' }), bitcoinCash),
  },
  BSV: { accountOf: base58Check(/^1/, { key: '00' }) },
  BTC: {
    accountOf: firstOf(base58Check(/^[13]/, { key: '00', script: '05' }), segwit('bc')),
  },
  DASH: { accountOf: base58Check(/^[X7]/, { key: '4c', script: '10' }) },
  DCR: { accountOf: decred },
  DGB: { accountOf: firstOf(base58Check(/^[DS3]/, { key: '1e', script: ['3f', '05'] }), segwit('dgb')) },
  DOGE: {
    accountOf: base58Check(/^[DA9]/, { key: '1e', script: '16' }),
  },
  DOT: { accountOf: ss58(/^[15]/, [0, 42]) },
  EGLD: { accountOf: bech32Account('erd', [32]) },
  ETH: { accountOf: ethereum },
  FIL: {
    accountOf: firstOf(filecoin, (address) => filecoinAccount(ethereum(address))),
  },
  FLOW: { accountOf: flow },
  HBAR: {
    accountOf: firstOf(hedera, (address) => hederaAccount(ethereum(address))),
  },
  ICP: { accountOf: internetComputer },
  ICX: {
    accountOf: firstOf(
      hexadecimal({ prefix: 'hx', minDigits: 40 }),
      hexadecimal({ prefix: 'cx', kind: 'contract', minDigits: 40 }),
    ),
  },
  INJ: cosmos('inj', ethereum),
  KAS: { accountOf: kaspa },
  KAVA: cosmos('kava', ethereum),
  KSM: { accountOf: ss58(/^[C-HJ5]/, [2, 42]) },
  LTC: {
    accountOf: firstOf(base58Check(/^[LM3]/, { key: '30', script: ['32', '05'] }), segwit('ltc'), mweb),
  },
  LUNA: cosmos('terra'),
  MINA: { accountOf: base58Check(/^B62/, { account: 'cb0101' }, 33) },
  NEAR: { accountOf: firstOf(nearAccount, nearName) },
  OSMO: cosmos('osmo'),
  QTUM: { accountOf: firstOf(base58Check(/^[QM]/, { key: '3a', script: '32' }), segwit('qc')) },
  RONIN: { accountOf: ethereumAccount(['0x', 'ronin:']) },
  ROSE: {
    accountOf: bech32Account('oasis', [21]),
  },
  RUNE: cosmos('thor'),
  // The two encodings of one key are two hashes of it.
  SEI: cosmos('sei', (address) => ethereum(address)?.replace('account', 'ethereum')),
  SOL: {
    accountOf: solana,
  },
  STRK: {
    accountOf: hexadecimal({ minDigits: 60, maxDigits: 64, limit: 2n ** 251n, isRightCase: isStarknetCase }),
  },
  STX: { accountOf: stacks },
  SUI: { accountOf: hexadecimal({ minDigits: 64 }) },
  TAO: { accountOf: ss58(/^5/, [42]) },
  TIA: cosmos('celestia'),
  TON: { accountOf: tonAccount },
  TRX: { accountOf: base58Check(/^T/, { account: '41' }) },
  XDC: { accountOf: ethereumAccount(['0x', 'xdc']) },
  XLM: { accountOf: stellar },
  XMR: { accountOf: monero },
  XNO: { accountOf: nano },
  XRP: {
    accountOf: rippleAccount,
  },
  XTZ: {
    accountOf: base58Check(/^(?:tz[1-4]|KT1|sr1)/, {
      ed25519: '06a19f',
      secp256k1: '06a1a1',
      p256: '06a1a4',
      bls: '06a1a6',
      contract: '025a79',
      rollup: '067c75',
    }),
  },
  ZEC: {
    accountOf: firstOf(
      base58Check(/^t[13]/, { account: '1cb8', script: '1cbd' }),
      bech32Account('tex', [20], 'bech32m'),
      bech32Account('zs', [43]),
      unified,
    ),
  },
  ZIL: { accountOf: firstOf(bech32Account('zil', [20]), ethereumAccount(['0x'], isZilliqaCase)) },
} as const satisfies Readonly<Record<string, AddressFormat>>

export type FormatName = keyof typeof formats

export const formatNames = Object.keys(formats) as readonly FormatName[]

/** Two keys. */
function mweb(address: string): string | undefined {
  const keys = fromMweb(address)
  return keys?.length === 66 ? `mweb:${keys.toString('hex')}` : undefined
}

/** Receivers of several kinds in one text, and padding (ZIP 316). */
function unified(address: string): string | undefined {
  const bytes = fromBech32(address, 'u', 'bech32m')
  return bytes && bytes.length >= 48 ? `unified:${bytes.toString('hex')}` : undefined
}

/** Any other network's address is none of NEAR's, which would take most texts of small letters as a name. */
function nearName(text: string): string | undefined {
  if (!isNearName(text)) return undefined
  const isElsewhere = formatNames.some((name) => name !== 'NEAR' && formats[name].accountOf(text) !== undefined)
  return isElsewhere ? undefined : `name ${text}`
}
