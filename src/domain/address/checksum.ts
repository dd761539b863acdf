/** Verifies checksums of addresses by encoding. A text in another encoding never has a wrong checksum. */
import { bareCashAddress, isCashAddress } from './cash-address.ts'
import { hasBothCases, isEip55 } from './decoders.ts'
import { bareBech32, fromBase58Check, fromSegwit, isBase58, isBech32 } from './encoding.ts'

/** `bech32` includes bech32m and CashAddr. `eip55` is the case of the letters in a `0x` address. */
export const checksums = ['base58check', 'bech32', 'eip55'] as const

export type Checksum = (typeof checksums)[number]

const hexadecimal = /^0x[0-9a-f]{40}$/i
/** Their variant of bech32 depends on the version of the witness program. */
const segwitPrefix = /^(bc|dgb|ltc|qc)1/

const isWrong: Readonly<Record<Checksum, (address: string) => boolean>> = {
  base58check: (address) =>
    isBase58(address) && !isLikeBech32(address) && !fromBase58Check(address, 'bitcoin') && !fromBase58Check(address, 'ripple'),
  bech32(address) {
    const cash = bareCashAddress(address)
    if (cash !== undefined) return !isCashAddress(cash)
    const bare = bareBech32(address)
    const [, prefix] = segwitPrefix.exec(bare ?? '') ?? []
    return bare !== undefined && !(prefix === undefined ? isBech32(address) : fromSegwit(address, prefix))
  },
  eip55: (address) => hexadecimal.test(address) && hasBothCases(address.slice(2)) && !isEip55(address.slice(2)),
}

/** Whether the address has this encoding and its checksum is wrong. */
export function hasWrongChecksum(address: string, kind: Checksum): boolean {
  return isWrong[kind](address)
}

/** Some bech32 texts have only letters of base 58. */
function isLikeBech32(address: string): boolean {
  return bareBech32(address) !== undefined || bareCashAddress(address) !== undefined
}
