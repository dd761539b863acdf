/** Bitcoin Cash addresses: CashAddr, with or without its prefix, and the legacy format, which is Bitcoin's. */
import { bech32Letters, fromBase58Check, toBech32Letters } from './encoding.ts'

const prefix = 'bitcoincash:'
/** Of a key (`q`) or a script (`p`), or their token-aware variants (`z`, `r`): 160 bits, for scripts also 256. */
const shape = /^(?:[qpzr][02-9ac-hj-np-z]{41}|[pr][02-9ac-hj-np-z]{60})$/
const payloadLength = 34
const checksumLength = 8
/** The first byte of CashAddr by that of the legacy format: of a key, of a script. */
const versions: ReadonlyMap<number | undefined, number> = new Map([
  [0x00, 0x00],
  [0x05, 0x08],
])
/** `bitcoincash` in the lower five bits of each letter, and the end of the prefix. */
const prefixDigits = [2, 9, 20, 3, 15, 9, 14, 3, 1, 19, 8, 0]
const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** The address without its prefix and in lower case; undefined if it has not the format of a CashAddr. The checksum is not verified. */
export function bareCashAddress(address: string): string | undefined {
  const lower = address.toLowerCase()
  if (address !== lower && address !== address.toUpperCase()) return undefined
  const bare = lower.startsWith(prefix) ? lower.slice(prefix.length) : lower
  return shape.test(bare) ? bare : undefined
}

/** Whether the checksum of a bare CashAddr is right. */
export function isCashAddress(bare: string): boolean {
  return remainder([...prefixDigits, ...digitsOf(bare)]) === 0n
}

/** The bare CashAddr of a key's hash. */
export function toCashAddress(hash: Buffer): string {
  const payload = toBech32Letters(Buffer.concat([Buffer.of(0), hash]))
  const sum = remainder([...prefixDigits, ...digitsOf(payload), ...Array.from({ length: checksumLength }, () => 0)])
  const checksum = Array.from({ length: checksumLength }, (_, at) => bech32Letters[Number((sum >> BigInt(35 - 5 * at)) & 31n)])
  return payload + checksum.join('')
}

/** Whether both addresses are valid and mean the same key or script. */
export function isLegacyOf(legacy: string, bare: string): boolean {
  const bytes = fromBase58Check(legacy, 'bitcoin')
  const version = versions.get(bytes?.[0])
  if (bytes?.length !== 21 || version === undefined || !isCashAddress(bare)) return false
  return toBech32Letters(Buffer.from([version, ...bytes.subarray(1)])) === bare.slice(0, payloadLength)
}

function digitsOf(letters: string): readonly number[] {
  return [...letters].map((letter) => bech32Letters.indexOf(letter))
}

/** The 40-bit remainder of CashAddr's code; 0 if the checksum is right. */
function remainder(digits: readonly number[]): bigint {
  let sum = 1n
  for (const digit of digits) {
    const top = sum >> 35n
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(digit)
    for (const [bit, generator] of generators.entries()) if ((top >> BigInt(bit)) & 1n) sum ^= generator
  }
  return sum ^ 1n
}
