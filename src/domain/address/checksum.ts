/** Verifies checksums of addresses by encoding. A text in another encoding never has a wrong checksum. */
import { createHash } from 'node:crypto'
import { bareCashAddress, isCashAddress } from './bitcoin-cash.ts'
import { bareBech32, fromBase58Check, isBase58, isBech32 } from './encoding.ts'

/** `bech32` includes bech32m and CashAddr. `eip55` is the case of the letters in a `0x` address. */
export const checksums = ['base58check', 'bech32', 'eip55'] as const

export type Checksum = (typeof checksums)[number]

const hexadecimal = /^0x[0-9a-f]{40}$/i

const isWrong: Readonly<Record<Checksum, (address: string) => boolean>> = {
  base58check: (address) =>
    isBase58(address) && !isLikeBech32(address) && !fromBase58Check(address, 'bitcoin') && !fromBase58Check(address, 'ripple'),
  bech32(address) {
    const cash = bareCashAddress(address)
    return cash === undefined ? bareBech32(address) !== undefined && !isBech32(address) : !isCashAddress(cash)
  },
  eip55: (address) => isOfBothCases(address) && address !== withEip55(address),
}

/** Whether the address has this encoding and its checksum is wrong. */
export function hasWrongChecksum(address: string, kind: Checksum): boolean {
  return isWrong[kind](address)
}

/** Some bech32 texts have only letters of base 58. */
function isLikeBech32(address: string): boolean {
  return bareBech32(address) !== undefined || bareCashAddress(address) !== undefined
}

/** An address in only one case has no checksum. */
function isOfBothCases(address: string): boolean {
  return hexadecimal.test(address) && /[a-f]/.test(address) && /[A-F]/.test(address)
}

function withEip55(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = createHash('keccak-256').update(digits).digest('hex')
  return `0x${[...digits].map((digit, at) => (Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`
}
