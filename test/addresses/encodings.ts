/** Makes addresses with the right checksum. */
import { createHash } from 'node:crypto'
import { bech32, bech32m, createBase58check } from '@scure/base'

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest())
export const base58check = createBase58check(sha256)
export const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37 + 11) % 256)

/** The hash of a key or script behind the prefix of its kind. */
export function hashed(version: string): string {
  return base58check.encode(Uint8Array.of(...Buffer.from(version, 'hex'), ...bytes(20)))
}

export function segwit(prefix: string, version: number, length: number): string {
  const encoding = version === 0 ? bech32 : bech32m
  return encoding.encode(prefix, [version, ...encoding.toWords(bytes(length))], false)
}

export function plain(encoding: typeof bech32, prefix: string, length: number): string {
  return encoding.encode(prefix, encoding.toWords(bytes(length)), false)
}

export type Forms = Readonly<Record<string, string>>

export const ethereum: Forms = {
  'of both cases': '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'in lower case': '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  'in capitals': '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED',
}
