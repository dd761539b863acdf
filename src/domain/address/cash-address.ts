/** CashAddr: the addresses of Bitcoin Cash, with or without their prefix, and those of Kaspa. */
import { bech32Letters, fromBech32Letters, toBech32Letters } from './encoding.ts'

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
