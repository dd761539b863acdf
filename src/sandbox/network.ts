/** What a network looks like from outside: its addresses, its memos, its hashes, what a payout on it costs. */
import type { Amount } from '../domain/amount.ts'
import { fold } from '../domain/asset.ts'
import { decimal } from './decimal.ts'

export interface Network {
  readonly address: { readonly prefix: string; readonly alphabet: string; readonly length: number }
  /** Whether a deposit needs a memo or tag beside the address. */
  readonly hasMemo: boolean
  readonly hashPrefix: string
  /** In US dollars. */
  readonly fee: Amount
}

const hexadecimal = '0123456789abcdef'
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

interface Traits {
  readonly hasMemo?: boolean
  readonly hashPrefix?: string
  readonly fee?: string
}

function network(prefix: string, alphabet: string, length: number, { hasMemo = false, hashPrefix = '', fee = '0.1' }: Traits = {}) {
  return { address: { prefix, alphabet, length }, hasMemo, hashPrefix, fee: decimal(fee) }
}

/** The Ethereum virtual machine: one shape of address on many networks. */
function ethereumLike(fee: string): Network {
  return network('0x', hexadecimal, 40, { hashPrefix: '0x', fee })
}

const networks: Readonly<Record<string, Network>> = {
  ADA: network('addr1q', bech32, 53, { fee: '0.2' }),
  ALGO: network('', base32, 58),
  ARBITRUM: ethereumLike('0.2'),
  ATOM: network('cosmos1', bech32, 38, { hasMemo: true }),
  AVAXC: ethereumLike('0.2'),
  BASE: ethereumLike('0.2'),
  BCH: network('q', bech32, 41),
  BSC: ethereumLike('0.3'),
  BTC: network('bc1q', bech32, 38, { fee: '1.8' }),
  DASH: network('X', base58, 33),
  DOGE: network('D', base58, 33, { fee: '0.5' }),
  DOT: network('1', base58, 46),
  ETC: ethereumLike('0.2'),
  ETH: ethereumLike('1.2'),
  FIL: network('f1', base32.toLowerCase(), 39),
  HBAR: network('0.0.', '123456789', 12, { hasMemo: true }),
  LTC: network('ltc1q', bech32, 38),
  NEAR: network('', hexadecimal, 64),
  POLYGON: ethereumLike('0.2'),
  SOL: network('', base58, 44),
  TON: network('UQ', base58, 46, { hasMemo: true }),
  TRX: network('T', base58, 33, { fee: '1' }),
  XLM: network('G', base32, 55, { hasMemo: true }),
  XMR: network('8', base58, 94),
  XRP: network('r', base58, 33, { hasMemo: true }),
  XTZ: network('tz1', base58, 33),
  ZEC: network('t1', base58, 33),
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
  return address.prefix + spell(digits, address.alphabet, address.length)
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
  let rest = BigInt(`0x${hexadecimalDigits}`)
  let text = ''
  for (let place = 0; place < length; place++) {
    text += alphabet[Number(rest % base)]
    rest /= base
  }
  return text
}
