/** @scure/base: base 32, base 58 and bech32. A bug in an own implementation would lose funds; this package is audited and has no dependencies. */
import { createHash } from 'node:crypto'
import { base32nopad, base58, base58xrp, bech32, bech32m } from '@scure/base'

/** The alphabets differ in the order of their letters. */
export type Base58 = 'bitcoin' | 'ripple'

const coders = { bitcoin: base58, ripple: base58xrp }
/** The cost of base 58 is quadratic in the length: longer texts are not decoded. */
const maxBase58Length = 160
const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/
const base32Pattern = /^[A-Z2-7]{1,160}$/
const bech32Pattern = /^[a-z]+1[02-9ac-hj-np-z]{6,}$/
const maxBech32Length = 400
const checksumLength = 4

export function isBase58(text: string): boolean {
  return text.length <= maxBase58Length && base58Pattern.test(text)
}

/** The bytes of a text in base 58, without a look at a checksum. */
export function fromBase58(text: string, alphabet: Base58 = 'bitcoin'): Buffer | undefined {
  return isBase58(text) ? Buffer.from(coders[alphabet].decode(text)) : undefined
}

export function toBase58(bytes: Buffer): string {
  return base58.encode(bytes)
}

/** The payload of a base58check text; undefined for any other text or a wrong checksum. */
export function fromBase58Check(text: string, alphabet: Base58): Buffer | undefined {
  return withoutChecksum(fromBase58(text, alphabet), checksumLength, doubleSha256)
}

export function toBase58Check(payload: Buffer, alphabet: Base58): string {
  return coders[alphabet].encode(Buffer.concat([payload, doubleSha256(payload).subarray(0, checksumLength)]))
}

/** The bytes before a checksum of this length; undefined if it is not the beginning of their hash. */
export function withoutChecksum(
  bytes: Buffer | undefined,
  length: number,
  hash: (payload: Buffer) => Uint8Array,
): Buffer | undefined {
  if (bytes === undefined || bytes.length <= length) return undefined
  const payload = bytes.subarray(0, -length)
  return bytes.subarray(-length).equals(hash(payload).subarray(0, length)) ? payload : undefined
}

export function doubleSha256(bytes: Uint8Array): Buffer {
  return sha256(sha256(bytes))
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** The bytes of a text in base 32 of RFC 4648, without padding, in capitals; undefined also if its unused bits are not zero. */
export function fromBase32(text: string): Buffer | undefined {
  if (!base32Pattern.test(text)) return undefined
  try {
    return Buffer.from(base32nopad.decode(text))
  } catch {
    return undefined
  }
}

export function toBase32(bytes: Uint8Array): string {
  return base32nopad.encode(bytes)
}

/** CRC-16/XMODEM. */
export function crc16(bytes: Buffer): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000 ? ((sum << 1) ^ 0x1021) & 0xffff : (sum << 1) & 0xffff
  }
  return sum
}

/** The text in lower case; undefined if it has not the format of bech32 or has both cases. The checksum is not verified. */
export function bareBech32(text: string): string | undefined {
  if (text.length > maxBech32Length) return undefined
  const lower = text.toLowerCase()
  return bech32Pattern.test(lower) && (text === lower || text === text.toUpperCase()) ? lower : undefined
}

/** Whether the text is bech32 or bech32m with a valid checksum, of any length. */
export function isBech32(text: string): boolean {
  return text.length <= maxBech32Length && [bech32, bech32m].some((encoding) => encoding.decodeUnsafe(text, false) !== undefined)
}

/** The bytes of a bech32 (or bech32m) text with this prefix, of any length. */
export function fromBech32(text: string, prefix: string, variant: 'bech32' | 'bech32m' = 'bech32'): Buffer | undefined {
  const words = wordsOf(text, prefix, variant)
  return words && bytesOf(words)
}

/** The bytes of an address of Litecoin's extension blocks, after its version. */
export function fromMweb(text: string): Buffer | undefined {
  const [version, ...words] = wordsOf(text, 'ltcmweb', 'bech32') ?? []
  return version === 0 ? bytesOf(words) : undefined
}

/** A witness program: version 0 is bech32, all others are bech32m (BIP 173, BIP 350). */
export function fromSegwit(text: string, prefix: string): { readonly version: number; readonly program: Buffer } | undefined {
  const version = bech32Letters.indexOf(text.charAt(prefix.length + 1).toLowerCase())
  if (text.length > 90 || version < 0 || version > 16) return undefined
  const words = wordsOf(text, prefix, version === 0 ? 'bech32' : 'bech32m')
  const program = words && bytesOf(words.slice(1))
  if (!program || program.length < 2 || program.length > 40) return undefined
  return version > 0 || program.length === 20 || program.length === 32 ? { version, program } : undefined
}

function wordsOf(text: string, prefix: string, variant: 'bech32' | 'bech32m'): number[] | undefined {
  if (text.length > maxBech32Length || !text.toLowerCase().startsWith(`${prefix}1`)) return undefined
  const decoded = (variant === 'bech32' ? bech32 : bech32m).decodeUnsafe(text, false)
  return decoded?.prefix === prefix ? decoded.words : undefined
}

/** Undefined if more bits are left over than a letter has, or they are not zero. */
function bytesOf(words: number[]): Buffer | undefined {
  const bytes = bech32.fromWordsUnsafe(words)
  return bytes ? Buffer.from(bytes) : undefined
}

/** Encodes as bech32. `version`: the version of a segregated witness program, which precedes its bytes. */
export function toBech32(prefix: string, bytes: Buffer, version?: number): string {
  return bech32.encode(prefix, [...(version === undefined ? [] : [version]), ...bech32.toWords(bytes)], false)
}

/** The letters of bech32 for these bytes, without prefix and checksum. */
export function toBech32Letters(bytes: Buffer): string {
  return bech32
    .toWords(bytes)
    .map((word) => bech32Letters[word])
    .join('')
}

/** The bytes of letters of bech32, without prefix and checksum. */
export function fromBech32Letters(letters: string): Buffer | undefined {
  return bytesOf([...letters].map((letter) => bech32Letters.indexOf(letter)))
}

/** The letters of bech32, by value. */
export const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
