/**
 * Decoders of encodings that several networks share. Each gives the account behind an address as `kind:hexadecimal digits`: equal
 * texts are one account. Undefined if the text is no such address, or its checksum is wrong.
 */
import { blake2b } from '@noble/hashes/blake2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import {
  bech32Letters,
  crc16,
  fromBase58,
  fromBase58Check,
  fromBech32,
  fromBech32Letters,
  fromSegwit,
  toBase58,
  toBase58Check,
  toBech32Letters,
  withoutChecksum,
} from './encoding.ts'

export type Decoder = (address: string) => string | undefined

export function firstOf(...decoders: readonly Decoder[]): Decoder {
  return (address) => {
    for (const decode of decoders) {
      const account = decode(address)
      if (account !== undefined) return account
    }
    return undefined
  }
}

/**
 * Payloads of base58check: the bytes of each kind, in hexadecimal digits, and then a hash of this length. `start` is how these begin in
 * base 58: decoding is slow.
 */
export function base58Check(start: RegExp, kinds: Readonly<Record<string, string | readonly string[]>>, length = 20): Decoder {
  const versions = Object.entries(kinds).flatMap(([kind, own]) => [own].flat().map((version) => [kind, version] as const))
  return (address) => {
    if (!start.test(address)) return undefined
    const payload = fromBase58Check(address, 'bitcoin')?.toString('hex')
    const [kind, version = ''] =
      versions.find(([, own]) => payload?.startsWith(own) && payload.length === own.length + 2 * length) ?? []
    return kind === undefined ? undefined : `${kind}:${payload?.slice(version.length)}`
  }
}

/** Witness programs. Those of version 0 are hashes of a key or a script. */
export function segwit(prefix: string): Decoder {
  return (address) => {
    const found = fromSegwit(address, prefix)
    return found && `witness${found.version}:${found.program.toString('hex')}`
  }
}

/** bech32 of so many bytes. */
export function bech32Account(prefix: string, lengths: readonly number[], variant?: 'bech32m'): Decoder {
  return (address) => {
    const bytes = fromBech32(address, prefix, variant)
    return bytes && lengths.includes(bytes.length) ? `account:${bytes.toString('hex')}` : undefined
  }
}

interface HexadecimalForm {
  readonly prefix?: string
  readonly kind?: string
  readonly minDigits: number
  /** Default: `minDigits`. Leading zeros may be left out. */
  readonly maxDigits?: number
  /** The account's number is below this. */
  readonly limit?: bigint
  /** Whether letters of both cases, with all leading zeros, have the right checksum. */
  readonly isRightCase?: (digits: string) => boolean
}

export function hexadecimal({
  prefix = '0x',
  kind = 'account',
  minDigits,
  maxDigits = minDigits,
  limit,
  isRightCase = () => true,
}: HexadecimalForm): Decoder {
  const shape = new RegExp(`^${prefix}([0-9a-fA-F]{${minDigits},${maxDigits}})$`)
  return (address) => {
    const digits = shape.exec(address)?.[1]?.padStart(maxDigits, '0')
    if (digits === undefined || (limit !== undefined && BigInt(`0x${digits}`) >= limit)) return undefined
    return !hasBothCases(digits) || isRightCase(digits) ? `${kind}:${digits.toLowerCase()}` : undefined
  }
}

/** An account of Ethereum's virtual machine. Letters of both cases are a checksum (EIP-55); in one case there is none. */
export function ethereumAccount(prefixes: readonly string[] = ['0x'], isRightCase = isEip55): Decoder {
  return (address) => {
    const digits = address.slice(-40)
    if (!/^[0-9a-fA-F]{40}$/.test(digits) || !prefixes.includes(address.slice(0, -40))) return undefined
    return !hasBothCases(digits) || isRightCase(digits) ? `account:${digits.toLowerCase()}` : undefined
  }
}

export function hasBothCases(digits: string): boolean {
  return /[a-f]/.test(digits) && /[A-F]/.test(digits)
}

export function isEip55(digits: string): boolean {
  return isCaseOf(digits, keccak_256(Buffer.from(digits.toLowerCase())))
}

/** Starknet's checksum: as EIP-55, with the hash of the number instead of its letters. */
export function isStarknetCase(digits: string): boolean {
  const bytes = Buffer.from(digits, 'hex')
  return isCaseOf(digits, keccak_256(bytes.subarray(bytes.findIndex((byte) => byte !== 0))))
}

/** Whether letters are capitals where the hash has a digit of 8 or more. */
function isCaseOf(digits: string, hash: Uint8Array): boolean {
  const hashDigits = Buffer.from(hash).toString('hex')
  const letters = [...digits.toLowerCase()]
  return digits === letters.map((digit, at) => (hashDigits.charAt(at) >= '8' ? digit.toUpperCase() : digit)).join('')
}

/** SS58 of Substrate: the byte of a network, and an account of 32 bytes. `start` as in `base58Check`. */
export function ss58(start: RegExp, networks: readonly number[]): Decoder {
  return (address) => {
    if (!start.test(address) || address.length > 50) return undefined
    const payload = withoutChecksum(fromBase58(address), 2, ss58Hash)
    return payload?.length === 33 && networks.includes(payload[0] as number) ? `account:${payload.toString('hex', 1)}` : undefined
  }
}

export function toSs58(network: number, account: Buffer): string {
  const payload = Buffer.concat([Buffer.of(network), account])
  return toBase58(Buffer.concat([payload, ss58Hash(payload).subarray(0, 2)]))
}

function ss58Hash(payload: Buffer): Uint8Array {
  return blake2b(Buffer.concat([Buffer.from('SS58PRE'), payload]))
}

// CashAddr: the addresses of Bitcoin Cash, with or without their prefix, and those of Kaspa.

const cashPrefix = 'bitcoincash'
/** Of a key (`q`) or a script (`p`), or their token-aware variants (`z`, `r`): 160 bits, for scripts also 256. */
const cashShape = /^(?:[qpzr][02-9ac-hj-np-z]{41}|[pr][02-9ac-hj-np-z]{60})$/
const letters = /^[02-9ac-hj-np-z]{9,120}$/
const checksumLength = 8
const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]
/** Kind and length by the first byte. A token-aware address is that of the same key or script. */
const versions: Readonly<Record<number, readonly [kind: string, length: number]>> = {
  0: ['key', 20],
  8: ['script', 20],
  11: ['script', 32],
  16: ['key', 20],
  24: ['script', 20],
  27: ['script', 32],
}

/** The address without its prefix and in lower case; undefined if it has not the format of a CashAddr. The checksum is not verified. */
export function bareCashAddress(address: string): string | undefined {
  const lower = address.toLowerCase()
  if (address !== lower && address !== address.toUpperCase()) return undefined
  const bare = lower.startsWith(`${cashPrefix}:`) ? lower.slice(cashPrefix.length + 1) : lower
  return cashShape.test(bare) ? bare : undefined
}

/** Whether the checksum of a bare CashAddr is right. */
export function isCashAddress(bare: string): boolean {
  return remainder(cashPrefix, digitsOf(bare)) === 0n
}

export function bitcoinCash(address: string): string | undefined {
  const bare = bareCashAddress(address)
  const [version = -1, ...hash] = (bare === undefined ? undefined : fromCash(cashPrefix, bare)) ?? []
  const [kind, length] = versions[version] ?? []
  return hash.length === length ? `${kind}:${Buffer.from(hash).toString('hex')}` : undefined
}

/** The bare CashAddr of a key's hash. */
export function toCashAddress(hash: Buffer): string {
  return toCash(cashPrefix, Buffer.concat([Buffer.of(0), hash]))
}

/** The bytes before the checksum, of an address without its prefix. */
export function fromCash(prefix: string, bare: string): Buffer | undefined {
  return letters.test(bare) && remainder(prefix, digitsOf(bare)) === 0n
    ? fromBech32Letters(bare.slice(0, -checksumLength))
    : undefined
}

/** The address without its prefix. */
export function toCash(prefix: string, bytes: Buffer): string {
  const payload = toBech32Letters(bytes)
  const sum = remainder(prefix, [...digitsOf(payload), ...Array.from({ length: checksumLength }, () => 0)])
  const checksum = Array.from({ length: checksumLength }, (_, at) => bech32Letters[Number((sum >> BigInt(35 - 5 * at)) & 31n)])
  return payload + checksum.join('')
}

function digitsOf(text: string): readonly number[] {
  return [...text].map((letter) => bech32Letters.indexOf(letter))
}

/** The 40-bit remainder of CashAddr's code; 0 if the checksum is right. The prefix counts by the lower five bits of its letters. */
function remainder(prefix: string, digits: readonly number[]): bigint {
  let sum = 1n
  for (const digit of [...[...prefix].map((letter) => letter.charCodeAt(0) & 31), 0, ...digits]) {
    const top = sum >> 35n
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(digit)
    for (const [bit, generator] of generators.entries()) if ((top >> BigInt(bit)) & 1n) sum ^= generator
  }
  return sum ^ 1n
}

// Addresses of the XRP Ledger: classic ones, and X-addresses, which hold an account and its tag in one text.

const classicShape = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/
const xAddressShape = /^X[1-9A-HJ-NP-Za-km-z]{45,47}$/
const xAddressPrefix = Buffer.from([0x05, 0x44])
const payloadLength = 31

interface RippleAccount {
  /** 20 bytes in hexadecimal. */
  readonly account: string
  /** Absent if the address has none; classic addresses never have one. */
  readonly tag?: string
}

/** Undefined for any other text. */
export function readXAddress(address: string): RippleAccount | undefined {
  if (!xAddressShape.test(address)) return undefined
  const bytes = fromBase58Check(address, 'ripple')
  if (bytes?.length !== payloadLength || !bytes.subarray(0, 2).equals(xAddressPrefix)) return undefined
  if (bytes.readUInt32LE(27) !== 0) return undefined
  const account = bytes.toString('hex', 2, 22)
  if (bytes[22] === 1) return { account, tag: String(bytes.readUInt32LE(23)) }
  return bytes[22] === 0 && bytes.readUInt32LE(23) === 0 ? { account } : undefined
}

/** Undefined for any other text. */
function readClassicAddress(address: string): RippleAccount | undefined {
  const bytes = classicShape.test(address) ? fromBase58Check(address, 'ripple') : undefined
  return bytes?.length === 21 && bytes[0] === 0 ? { account: bytes.toString('hex', 1) } : undefined
}

export function rippleAccount(address: string): string | undefined {
  const account = (readClassicAddress(address) ?? readXAddress(address))?.account
  return account === undefined ? undefined : `account:${account}`
}

export function toClassicAddress({ account }: RippleAccount): string {
  return toBase58Check(Buffer.from(`00${account}`, 'hex'), 'ripple')
}

// Addresses of TON: raw (`0:…`), or in either base 64, bounceable or not.

const raw = /^(-1|0):([0-9a-f]{64})$/i
const friendly = /^[A-Za-z0-9+/_-]{48}$/
/** The first byte of a friendly address of the main network. */
const bounceable = 0x11
const notBounceable = 0x51

/** The workchain and the account as `0:…`; undefined for any other text, a wrong checksum or an address of the test network. */
export function tonAccount(address: string): string | undefined {
  const [, workchain, account] = raw.exec(address) ?? []
  if (account !== undefined) return `${workchain}:${account.toLowerCase()}`
  if (!friendly.test(address)) return undefined
  const bytes = Buffer.from(address, 'base64')
  if (bytes[0] !== bounceable && bytes[0] !== notBounceable) return undefined
  if (bytes.readUInt16BE(34) !== crc16(bytes.subarray(0, 34))) return undefined
  const chain = bytes.readInt8(1)
  return chain === 0 || chain === -1 ? `${chain}:${bytes.toString('hex', 2, 34)}` : undefined
}

/** The address of a wallet, not bounceable. */
export function toTonAddress(account: Buffer): string {
  const bytes = Buffer.concat([Buffer.of(notBounceable, 0), account, Buffer.alloc(2)])
  bytes.writeUInt16BE(crc16(bytes.subarray(0, 34)), 34)
  return bytes.toString('base64url')
}
