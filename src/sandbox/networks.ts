/** What a network looks like from outside: its addresses, its memos, its hashes, what a payout on it costs. */

import { toCashAddress, toSs58, toTonAddress } from '../domain/address/decoders.ts'
import { toBase58, toBase58Check, toBech32 } from '../domain/address/encoding.ts'
import {
  toAlgorand,
  toDecred,
  toFilecoin,
  toFlow,
  toInternetComputer,
  toKaspa,
  toMonero,
  toNano,
  toStacks,
  toStellar,
} from '../domain/address/standards.ts'
import type { Amount } from '../domain/amount.ts'
import { fold } from '../domain/asset.ts'

import { decimal } from './decimal.ts'

const hexadecimal = '0123456789abcdef'
const other = ethereumLike('0.5')

/** A network that is not in the list looks like one more Ethereum. */
export function networkOf(name: string): Network {
  return networks[fold(name)] ?? other
}

/** One way from a text to 64 hexadecimal digits. */
export type Digest = (text: string) => string

/**
 * The address on which a transaction waits for its deposit. No two transactions share one. It is valid, and made from a hash: nobody
 * has its key.
 */
export function depositAddress({ address }: Network, id: string, digest: Digest): string {
  const digits = ['address', 'address, continued', 'address, concluded'].map((part) => digest(`${part} ${id}`)).join('')
  return address(Buffer.from(digits, 'hex'))
}

/** Nine digits, which every network with memos takes: a tag of the XRP Ledger has 32 bits. */
export function memo(id: string, digest: Digest): string {
  return spell(digest(`memo ${id}`), '123456789', 9)
}

/** The hash of the chain's transaction: `what` is its part in the swap. */
export function transactionHash(
  { hashPrefix }: Network,
  what: 'deposit' | 'payout' | 'refund',
  id: string,
  digest: Digest,
): string {
  return hashPrefix + digest(`${what} ${id}`)
}

// The networks of the default asset table, as far as the sandbox shows them.

/** An address for these 96 bytes. */
type ToAddress = (bytes: Buffer) => string

interface Network {
  readonly address: ToAddress
  /** Whether a deposit needs a memo or tag beside the address. */
  readonly hasMemo: boolean
  readonly hashPrefix: string
  /** In US dollars. */
  readonly fee: Amount
}

interface Traits {
  readonly hasMemo?: boolean
  readonly hashPrefix?: string
  readonly fee?: string
}

function network(address: ToAddress, { hasMemo = false, hashPrefix = '', fee = '0.1' }: Traits = {}): Network {
  return { address, hasMemo, hashPrefix, fee: decimal(fee) }
}

/** So many letters of the alphabet, without a checksum. */
function spelledAddress(prefix: string, alphabet: string, length: number): ToAddress {
  return (bytes) => prefix + spell(bytes.toString('hex'), alphabet, length)
}

/** From so many of the bytes, where the network has a checksum of its own. */
function own(length: number, encode: (bytes: Buffer) => string): ToAddress {
  return (bytes) => encode(bytes.subarray(0, length))
}

/** The hash of a key after the bytes of its type. */
function base58Check(version: string, alphabet: 'bitcoin' | 'ripple' = 'bitcoin'): ToAddress {
  return (bytes) => toBase58Check(Buffer.concat([Buffer.from(version, 'hex'), bytes.subarray(0, 20)]), alphabet)
}

function segwit(prefix: string): ToAddress {
  return (bytes) => toBech32(prefix, bytes.subarray(0, 20), 0)
}

/** The Ethereum virtual machine: one shape of address on many networks. */
function ethereumLike(fee: string): Network {
  return network(spelledAddress('0x', hexadecimal, 40), { hashPrefix: '0x', fee })
}

function cosmosLike(prefix: string): Network {
  return network((bytes) => toBech32(prefix, bytes.subarray(0, 20)), { hasMemo: true })
}

/** Of a public key. */
const mina: ToAddress = (bytes) =>
  toBase58Check(Buffer.concat([Buffer.of(0xcb, 0x01, 0x01), bytes.subarray(0, 32), Buffer.of(0x00)]), 'bitcoin')

/** Of a key for payments and one for stakes. */
const cardano: ToAddress = (bytes) => toBech32('addr', Buffer.concat([Buffer.of(0x01), bytes.subarray(0, 56)]))

const networks: Readonly<Record<string, Network>> = {
  ...shared(ethereumLike('0.2'), 'ARBITRUM AVAXC BASE CELO CORE ETC FLR GLMR KAIA LINEA MNT MONAD OPTIMISM PLASMA'),
  ...shared(ethereumLike('0.2'), 'PLS POLYGON RONIN SEI SONIC STORY THETA VET XDC ZKSYNC BERA CRONOS ETHW HYPEEVM'),
  APT: network(spelledAddress('0x', hexadecimal, 64), { hashPrefix: '0x' }),
  ...shared(network(spelledAddress('0x', hexadecimal, 64)), 'IOTA SUI'),
  ...shared(cosmosLike('terra'), 'LUNA LUNC'),
  ADA: network(cardano, { fee: '0.2' }),
  AKT: cosmosLike('akash'),
  ALGO: network(own(32, toAlgorand)),
  ATOM: cosmosLike('cosmos'),
  BCH: network(own(20, toCashAddress)),
  BSC: ethereumLike('0.3'),
  BSV: network(base58Check('00')),
  BTC: network(segwit('bc'), { fee: '1.8' }),
  DASH: network(base58Check('4c')),
  DCR: network(own(20, toDecred)),
  DGB: network(base58Check('1e')),
  DOGE: network(base58Check('1e'), { fee: '0.5' }),
  DOT: network(own(32, (account) => toSs58(0, account))),
  EGLD: network((bytes) => toBech32('erd', bytes.subarray(0, 32))),
  ETH: ethereumLike('1.2'),
  FIL: network(own(20, toFilecoin)),
  FLOW: network(own(8, toFlow)),
  HBAR: network(spelledAddress('0.0.', '123456789', 12), { hasMemo: true }),
  ICP: network(own(29, toInternetComputer)),
  ICX: network(spelledAddress('hx', hexadecimal, 40), { hashPrefix: '0x' }),
  INJ: cosmosLike('inj'),
  KAS: network(own(32, toKaspa)),
  KAVA: cosmosLike('kava'),
  KSM: network(own(32, (account) => toSs58(2, account))),
  LTC: network(segwit('ltc')),
  MINA: network(mina),
  NEAR: network(spelledAddress('', hexadecimal, 64)),
  OSMO: cosmosLike('osmo'),
  QTUM: network(base58Check('3a')),
  ROSE: network((bytes) => toBech32('oasis', bytes.subarray(0, 21))),
  RUNE: cosmosLike('thor'),
  STRK: network(spelledAddress('0x00', hexadecimal, 62), { hashPrefix: '0x' }),
  SOL: network(own(32, toBase58)),
  STX: network(own(20, toStacks), { hasMemo: true, hashPrefix: '0x' }),
  TAO: network(own(32, (account) => toSs58(42, account))),
  TIA: cosmosLike('celestia'),
  TON: network(own(32, toTonAddress), { hasMemo: true }),
  TRX: network(base58Check('41'), { fee: '1' }),
  XLM: network(own(32, toStellar), { hasMemo: true }),
  XMR: network(own(64, toMonero)),
  XNO: network(own(32, toNano)),
  XRP: network(base58Check('00', 'ripple'), { hasMemo: true }),
  XTZ: network(base58Check('06a19f')),
  ZEC: network(base58Check('1cb8')),
  ZIL: network((bytes) => toBech32('zil', bytes.subarray(0, 20)), { hashPrefix: '0x' }),
}

/** One look of several networks. */
function shared(look: Network, names: string): Readonly<Record<string, Network>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, look]))
}

/** The number of the hexadecimal digits, in the last places of another alphabet. */
function spell(hexadecimalDigits: string, alphabet: string, length: number): string {
  const base = BigInt(alphabet.length)
  let remaining = BigInt(`0x${hexadecimalDigits}`)
  let text = ''
  for (let place = 0; place < length; place++) {
    text += alphabet[Number(remaining % base)]
    remaining /= base
  }
  return text
}
