/**
 * Keys that the operator issues: `sg_live_`, 160 random bits, and a checksum, in letters and digits. Secret scanners recognise the
 * prefix, and the checksum finds typing errors without a look-up.
 */

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
  const body = prefix + toDigits(number, randomDigits)
  return body + checksumOf(body)
}

/** Whether the text has the format and the checksum of a key. Finds every single wrong character and every swap of two neighbours. */
export function isKey(text: string): boolean {
  if (!pattern.test(text)) return false
  const body = text.slice(0, -checksumDigits)
  return text.endsWith(checksumOf(body))
}

function checksumOf(body: string): string {
  return toDigits(BigInt(crc32(body)), checksumDigits)
}

function toDigits(number: bigint, count: number): string {
  let digits = ''
  for (let remaining = number; digits.length < count; remaining /= 62n) digits = alphabet[Number(remaining % 62n)] + digits
  return digits
}

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder
})

/** CRC-32 of ASCII text, as in ISO 3309. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let at = 0; at < text.length; at++) crc = (crc >>> 8) ^ (remainders[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0)
  return ~crc >>> 0
}
