/** What a network looks like from outside: its addresses, its memos, its hashes, what a payout on it costs. */

import { toCashAddress } from '../../domain/address/bitcoin-cash.ts'
import { toBase58Check, toBech32 } from '../../domain/address/encoding.ts'
import type { Amount } from '../../domain/amount.ts'
import { fold } from '../../domain/swap/asset.ts'
import { decimal } from './decimal.ts'

/** An address for these 96 bytes. */
type ToAddress = (bytes: Buffer) => string

export interface Network {
  readonly address: ToAddress
  /** Whether a deposit needs a memo or tag beside the address. */
  readonly hasMemo: boolean
  readonly hashPrefix: string
  /** In US dollars. */
  readonly fee: Amount
}

const hexadecimal = '0123456789abcdef'
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

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

/** The hash of a key behind the bytes that say what it is. */
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

/** Of a key for payments and one for stakes. */
const cardano: ToAddress = (bytes) => toBech32('addr', Buffer.concat([Buffer.of(0x01), bytes.subarray(0, 56)]))

const networks: Readonly<Record<string, Network>> = {
  ADA: network(cardano, { fee: '0.2' }),
  ALGO: network(spelledAddress('', base32, 58)),
  ARBITRUM: ethereumLike('0.2'),
  ATOM: network((bytes) => toBech32('cosmos', bytes.subarray(0, 20)), { hasMemo: true }),
  AVAXC: ethereumLike('0.2'),
  BASE: ethereumLike('0.2'),
  BCH: network((bytes) => toCashAddress(bytes.subarray(0, 20))),
  BSC: ethereumLike('0.3'),
  BTC: network(segwit('bc'), { fee: '1.8' }),
  DASH: network(base58Check('4c')),
  DOGE: network(base58Check('1e'), { fee: '0.5' }),
  DOT: network(spelledAddress('1', base58, 46)),
  ETC: ethereumLike('0.2'),
  ETH: ethereumLike('1.2'),
  FIL: network(spelledAddress('f1', base32.toLowerCase(), 39)),
  HBAR: network(spelledAddress('0.0.', '123456789', 12), { hasMemo: true }),
  LTC: network(segwit('ltc')),
  NEAR: network(spelledAddress('', hexadecimal, 64)),
  POLYGON: ethereumLike('0.2'),
  SOL: network(spelledAddress('', base58, 44)),
  TON: network(spelledAddress('UQ', base58, 46), { hasMemo: true }),
  TRX: network(base58Check('41'), { fee: '1' }),
  XLM: network(spelledAddress('G', base32, 55), { hasMemo: true }),
  XMR: network(spelledAddress('8', base58, 94)),
  XRP: network(base58Check('00', 'ripple'), { hasMemo: true }),
  XTZ: network(base58Check('06a19f')),
  ZEC: network(base58Check('1cb8')),
}

const other = ethereumLike('0.5')

/** A network that is not in the list looks like one more Ethereum. */
export function networkOf(name: string): Network {
  return networks[fold(name)] ?? other
}

/** One way from a text to 64 hexadecimal digits. */
export type Digest = (text: string) => string

/** The address on which a transaction waits for its deposit. No two transactions share one. */
export function depositAddress({ address }: Network, id: string, digest: Digest): string {
  const digits = ['address', 'address, continued', 'address, concluded'].map((part) => digest(`${part} ${id}`)).join('')
  return address(Buffer.from(digits, 'hex'))
}

/** Ten digits, which every network with memos takes. */
export function memo(id: string, digest: Digest): string {
  return spell(digest(`memo ${id}`), '123456789', 10)
}

/** The hash of the chain's transaction: `what` is its part in the swap. */
export function transactionHash({ hashPrefix }: Network, what: 'deposit' | 'payout', id: string, digest: Digest): string {
  return hashPrefix + digest(`${what} ${id}`)
}

/** The number that the hexadecimal digits say, in the last places of another alphabet. */
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
