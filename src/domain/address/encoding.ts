/** @scure/base: base 58 and bech32 are where a bug of one's own loses funds; this one is audited and needs no other package. */
import { createHash } from 'node:crypto'
import { base58, base58xrp, bech32 } from '@scure/base'

/** Base 58 costs the square of its length: no longer text is decoded. */
const maxBase58Length = 160
const base58Pattern = /^[1-9A-HJ-NP-Za-km-z]+$/
const checksumLength = 4

/** The bytes that a base58check text holds; undefined for any other text, and where its checksum is wrong. */
export function fromBase58Check(text: string, alphabet: 'bitcoin' | 'ripple'): Buffer | undefined {
  if (text.length > maxBase58Length || !base58Pattern.test(text)) return undefined
  const bytes = Buffer.from((alphabet === 'bitcoin' ? base58 : base58xrp).decode(text))
  const payload = bytes.subarray(0, -checksumLength)
  return sha256(sha256(payload)).subarray(0, checksumLength).equals(bytes.subarray(-checksumLength)) ? payload : undefined
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** The letters of bech32 for these bytes, without prefix and checksum. */
export function toBech32Letters(bytes: Buffer): string {
  return bech32
    .toWords(bytes)
    .map((word) => bech32Letters[word])
    .join('')
}

/** In the order of their values. */
export const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
