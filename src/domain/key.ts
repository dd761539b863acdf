/**
 * Keys that the operator issues: `sg_live_`, 160 random bits, and a checksum, in letters and digits. Secret scanners recognise the
 * prefix, and the checksum finds typing errors without a look-up.
 */
import { crc32 } from 'node:zlib'

const prefix = 'sg_live_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Digits in base 62 for 160 and for 32 bits. */
const randomDigits = 27
const checksumDigits = 6
const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomDigits + checksumDigits}}$`)

/** Number of random bytes in a key. */
export const keyBytes = 20

/** Makes a key from `keyBytes` cryptographically random bytes. Throws `RangeError` for another length. */
export function makeKey(random: Uint8Array): string {
  if (random.length !== keyBytes) throw new RangeError(`a key takes ${keyBytes} random bytes`)
  const number = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const body = prefix + toDigits(number)
  return body + checksumOf(body)
}

/** Whether the text has the format and the checksum of a key. Finds every single wrong character and every swap of two neighbours. */
export function isKey(text: string): boolean {
  if (!pattern.test(text)) return false
  const body = text.slice(0, -checksumDigits)
  return text.endsWith(checksumOf(body))
}

function checksumOf(body: string): string {
  let digits = ''
  for (let remaining = crc32(body); digits.length < checksumDigits; remaining = Math.floor(remaining / alphabet.length))
    digits = alphabet[remaining % alphabet.length] + digits
  return digits
}

function toDigits(number: bigint): string {
  let digits = ''
  for (let remaining = number; digits.length < randomDigits; remaining /= 62n) digits = alphabet[Number(remaining % 62n)] + digits
  return digits
}
