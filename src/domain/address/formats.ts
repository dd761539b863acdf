/**
 * The addresses of each network: what decodes them, and those that nobody can pay out from. One table, by the name of the network,
 * from the networks' own documentation. Networks with the same addresses share an entry: those of Ethereum's machine have `ETH`.
 */
import {
  base58Check,
  bech32Account,
  bitcoinCash,
  type Decoder,
  ethereumAccount,
  firstOf,
  hexadecimal,
  rippleAccount,
  segwit,
  ss58,
  tonAccount,
} from './decoders.ts'
import { fromBech32, fromMweb, sha256 } from './encoding.ts'
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
  /** Addresses of the network's own: contracts and accounts that pay nothing out. */
  readonly system?: readonly string[]
  /** Further accounts of the network's own. */
  readonly isSystem?: (account: string) => boolean
  /** Addresses that are known to be used to destroy coins. */
  readonly burn?: readonly string[]
}

const ethereum = ethereumAccount()
/** Precompiled contracts, those of a layer 2, and the black hole of Avalanche. */
const ethereumSystem = /^account:(?:0{36}[0-9a-f]{4}|420{34}[0-9a-f]{4}|0[1-3]0{38}|f{40}|f{39}e)$/
const ofEthereum = {
  isSystem: (account: string) => ethereumSystem.test(account),
  system: [`0x${'e'.repeat(40)}`],
  burn: ['0x000000000000000000000000000000000000dead', '0xdead000000000000000042069420694206942069', `0x${'dead'.repeat(10)}`],
} satisfies Partial<AddressFormat>

/** Up to two bytes. */
const lowNumber = /^account:0{60}[0-9a-f]{4}$/
const ofMove = { isSystem: (account: string) => lowNumber.test(account) } satisfies Partial<AddressFormat>

/** Modules of a Substrate chain: `modl` and their name. */
const ofSubstrate = { isSystem: (account: string) => account.startsWith('account:6d6f646c') } satisfies Partial<AddressFormat>

/** Modules of a Cosmos chain have the hashes of their names as accounts; a chain refuses transfers to them. */
const cosmosModules = new Set(
  [
    ...['bonded_tokens_pool', 'distribution', 'fee_collector', 'gov', 'mint', 'not_bonded_tokens_pool', 'transfer'],
    ...['asgard', 'bond', 'reserve'],
  ].map((name) => `account:${sha256(Buffer.from(name)).toString('hex', 0, 20)}`),
)

function cosmos(prefix: string, more: Decoder = () => undefined): AddressFormat {
  return {
    accountOf: firstOf(bech32Account(prefix, [20, 32]), more),
    isSystem: (account) => cosmosModules.has(account),
  }
}

export const formats = {
  ADA: { accountOf: firstOf(shelley, byron) },
  AKT: cosmos('akash'),
  ALGO: {
    accountOf: algorand,
    system: [
      '737777777777777777777777777777777777777777777777777UFEJ2CI',
      'Y76M3MSY6DKBRHBL7C3NNDXGS5IIMQVQVUAB6MP4XEMMGVF2QWNPL226CA',
    ],
  },
  APT: { accountOf: hexadecimal({ minDigits: 60, maxDigits: 64 }), ...ofMove },
  ATOM: cosmos('cosmos'),
  BCH: {
    accountOf: firstOf(base58Check(/^[13]/, { key: '00', script: '05' }), bitcoinCash),
    burn: ['1BitcoinEaterAddressDontSendf59kuE'],
  },
  BSV: { accountOf: base58Check(/^1/, { key: '00' }), burn: ['1BitcoinEaterAddressDontSendf59kuE'] },
  BTC: {
    accountOf: firstOf(base58Check(/^[13]/, { key: '00', script: '05' }), segwit('bc')),
    system: ['bc1pfeessrawgf'],
    burn: ['1BitcoinEaterAddressDontSendf59kuE', '1ChancecoinXXXXXXXXXXXXXXXXXZELUFD', '1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
  },
  DASH: { accountOf: base58Check(/^[X7]/, { key: '4c', script: '10' }) },
  DCR: { accountOf: decred },
  DGB: { accountOf: firstOf(base58Check(/^[DS3]/, { key: '1e', script: ['3f', '05'] }), segwit('dgb')) },
  DOGE: {
    accountOf: base58Check(/^[DA9]/, { key: '1e', script: '16' }),
    burn: ['DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
  },
  DOT: { accountOf: ss58(/^[15]/, [0, 42]), ...ofSubstrate },
  EGLD: { accountOf: bech32Account('erd', [32]), isSystem: (account) => /^account:0{19}10{36}[0-9a-f]{4}f{4}$/.test(account) },
  ETH: { accountOf: ethereum, ...ofEthereum },
  FIL: {
    accountOf: firstOf(filecoin, (address) => filecoinAccount(ethereum(address))),
    isSystem: (account) => /^id:0{14}[0-9a-f]{2}$/.test(account) && Number.parseInt(account.slice(-2), 16) < 100,
    burn: ['f099', ...ofEthereum.burn],
  },
  FLOW: { accountOf: flow },
  HBAR: {
    accountOf: firstOf(hedera, (address) => hederaAccount(ethereum(address))),
    system: ['0.0.98', '0.0.800', '0.0.801'],
    burn: ofEthereum.burn,
  },
  ICP: { accountOf: internetComputer, system: ['aaaaa-aa', '2vxsx-fae'] },
  ICX: {
    accountOf: firstOf(
      hexadecimal({ prefix: 'hx', minDigits: 40 }),
      hexadecimal({ prefix: 'cx', kind: 'contract', minDigits: 40 }),
    ),
    system: ['hx1000000000000000000000000000000000000000', 'cx0000000000000000000000000000000000000001'],
  },
  INJ: cosmos('inj'),
  KAS: { accountOf: kaspa },
  KAVA: { ...cosmos('kava', ethereum), burn: ofEthereum.burn },
  KSM: { accountOf: ss58(/^[C-HJ5]/, [2, 42]), ...ofSubstrate },
  LTC: {
    accountOf: firstOf(base58Check(/^[LM3]/, { key: '30', script: ['32', '05'] }), segwit('ltc'), mweb),
  },
  LUNA: cosmos('terra'),
  MINA: { accountOf: base58Check(/^B62/, { account: 'cb0101' }, 33) },
  NEAR: { accountOf: firstOf(nearAccount, nearName), system: ['system'] },
  OSMO: cosmos('osmo'),
  QTUM: { accountOf: firstOf(base58Check(/^[QM]/, { key: '3a', script: '32' }), segwit('qc')) },
  RONIN: { accountOf: ethereumAccount(['0x', 'ronin:']), ...ofEthereum },
  ROSE: {
    accountOf: bech32Account('oasis', [21]),
    system: [
      'oasis1qrmufhkkyyf79s5za2r8yga9gnk4t446dcy3a5zm',
      'oasis1qqnv3peudzvekhulf8v3ht29z4cthkhy7gkxmph5',
      'oasis1qp65laz8zsa9a305wxeslpnkh9x4dv2h2qhjz0ec',
    ],
    burn: ['oasis1qzq8u7xs328puu2jy524w3fygzs63rv3u5967970'],
  },
  RUNE: cosmos('thor'),
  // The two encodings of one key are two hashes of it.
  SEI: {
    ...cosmos('sei', (address) => ethereum(address)?.replace('account', 'ethereum')),
    burn: ofEthereum.burn,
  },
  SOL: {
    accountOf: solana,
    system: [
      '11111111111111111111111111111111',
      'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
      'ComputeBudget111111111111111111111111111111',
      'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
      'So11111111111111111111111111111111111111112',
      'Stake11111111111111111111111111111111111111',
      'SysvarC1ock11111111111111111111111111111111',
      'SysvarRent111111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
      'Vote111111111111111111111111111111111111111',
    ],
    burn: ['1nc1nerator11111111111111111111111111111111'],
  },
  STRK: {
    accountOf: hexadecimal({ minDigits: 60, maxDigits: 64, limit: 2n ** 251n }),
    ...ofMove,
  },
  STX: { accountOf: stacks },
  SUI: { accountOf: hexadecimal({ minDigits: 64 }), ...ofMove },
  TAO: { accountOf: ss58(/^5/, [42]), ...ofSubstrate },
  TIA: cosmos('celestia'),
  TON: { accountOf: tonAccount },
  TRX: { accountOf: base58Check(/^T/, { account: '41' }), burn: ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'] },
  XDC: { accountOf: ethereumAccount(['0x', 'xdc']), ...ofEthereum },
  XLM: { accountOf: stellar, burn: ['GALAXYVOIDAOPZTDLHILAJQKCVVFMD4IKLXLSZV5YHO7VY74IWZILUTO'] },
  XMR: { accountOf: monero },
  XNO: { accountOf: nano },
  XRP: {
    accountOf: rippleAccount,
    system: ['rrrrrrrrrrrrrrrrrrrrBZbvji'],
    burn: ['rrrrrrrrrrrrrrrrrNAMEtxvNvQ', 'rrrrrrrrrrrrrrrrrrrn5RM1rHd'],
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
    burn: ['tz1burnburnburnburnburnburnburjAYjjX'],
  },
  ZEC: {
    accountOf: firstOf(
      base58Check(/^t[13]/, { account: '1cb8', script: '1cbd' }),
      bech32Account('tex', [20], 'bech32m'),
      bech32Account('zs', [43]),
      unified,
    ),
  },
  ZIL: { accountOf: firstOf(bech32Account('zil', [20]), ethereumAccount(['0x'], isZilliqaCase)), ...ofEthereum },
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

export type OwnerlessKind = 'zero' | 'system' | 'burn'

/** Why nobody can pay out from an address of the network, if that is known. */
export function ownerlessKind(address: string, name: FormatName): OwnerlessKind | undefined {
  const { accountOf, system = [], burn = [], isSystem }: AddressFormat = formats[name]
  const account = accountOf(address)
  if (account === undefined) return undefined
  const isOneOf = (known: readonly string[]): boolean => known.some((other) => accountOf(other) === account)
  if (isOneOf(burn)) return 'burn'
  if (isOneOf(system)) return 'system'
  if (/:0+$/.test(account)) return 'zero'
  return isSystem?.(account) ? 'system' : undefined
}

/** Any other network's address is none of NEAR's, which would take most texts of small letters as a name. */
function nearName(text: string): string | undefined {
  if (!isNearName(text)) return undefined
  const isElsewhere = formatNames.some((name) => name !== 'NEAR' && formats[name].accountOf(text) !== undefined)
  return isElsewhere ? undefined : `name ${text}`
}
