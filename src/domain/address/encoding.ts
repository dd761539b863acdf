/** @scure/base: base 58 and bech32. A bug in an own implementation would lose funds; this package is audited and has no dependencies. */
import { createHash } from 'node:crypto'
import { base58, base58xrp, bech32, bech32m } from '@scure/base'

/** The alphabets differ in the order of their letters. */
export type Base58 = 'bitcoin' | 'ripple'

const coders = { bitcoin: base58, ripple: base58xrp }
/** The cost of base 58 is quadratic in the length: longer texts are not decoded. */
const maxBase58Length = 160
const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/
const bech32Pattern = /^[a-z]+1[02-9ac-hj-np-z]{6,}$/
const checksumLength = 4

export function isBase58(text: string): boolean {
  return text.length <= maxBase58Length && base58Pattern.test(text)
}

/** The payload of a base58check text; undefined for any other text or a wrong checksum. */
export function fromBase58Check(text: string, alphabet: Base58): Buffer | undefined {
  if (!isBase58(text)) return undefined
  const bytes = Buffer.from(coders[alphabet].decode(text))
  const payload = bytes.subarray(0, -checksumLength)
  return checksumOf(payload).equals(bytes.subarray(-checksumLength)) ? payload : undefined
}

export function toBase58Check(payload: Buffer, alphabet: Base58): string {
  return coders[alphabet].encode(Buffer.concat([payload, checksumOf(payload)]))
}

function checksumOf(payload: Buffer): Buffer {
  return sha256(sha256(payload)).subarray(0, checksumLength)
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** The text in lower case; undefined if it has not the format of bech32 or has both cases. The checksum is not verified. */
export function bareBech32(text: string): string | undefined {
  const lower = text.toLowerCase()
  return bech32Pattern.test(lower) && (text === lower || text === text.toUpperCase()) ? lower : undefined
}

/** Whether the text is bech32 or bech32m with a valid checksum, of any length. */
export function isBech32(text: string): boolean {
  return [bech32, bech32m].some((encoding) => encoding.decodeUnsafe(text, false) !== undefined)
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

/** The letters of bech32, by value. */
export const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
