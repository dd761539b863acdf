/** When two addresses are one, by the rules of their own networks (docs/contract.md §3.6). */
import { bareCashAddress, isLegacyOf } from './bitcoin-cash.ts'
import { bareBech32 } from './encoding.ts'
import { readClassicAddress, readXAddress } from './ripple.ts'
import { tonAccount } from './ton.ts'

const hexadecimal = /^0x[0-9a-f]+$/i

type Comparison = (one: string, other: string) => boolean

const comparisons: readonly Comparison[] = [
  (one, other) => hexadecimal.test(one) && one.toLowerCase() === other.toLowerCase(),
  (one, other) => isEqual(bareBech32(one), bareBech32(other)),
  (one, other) => isSameCash(bareCashAddress(one), one, bareCashAddress(other), other),
  (one, other) => isEqual(tonAccount(one), tonAccount(other)),
  isSameRipple,
]

/**
 * Whether both are the same place to pay to. An X-address is the same as its classic address, whatever its tag: that counts
 * as the memo (`memoOf`). Two X-addresses with different tags are different places.
 */
export function sameAddress(one: string, other: string): boolean {
  return one === other || comparisons.some((compare) => compare(one, other))
}

/** The memo that goes with an address: the one beside it, or the tag within it. */
export function memoOf(address: string | undefined, extraId: string | undefined): string | undefined {
  return extraId || (address === undefined ? undefined : readXAddress(address)?.tag)
}

function isEqual(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other
}

function isSameCash(bare: string | undefined, one: string, otherBare: string | undefined, other: string): boolean {
  if (bare !== undefined && otherBare !== undefined) return bare === otherBare
  if (bare !== undefined) return isLegacyOf(other, bare)
  return otherBare !== undefined && isLegacyOf(one, otherBare)
}

/** Two X-addresses are never two spellings: an account and its tag are spelt in one way. */
function isSameRipple(one: string, other: string): boolean {
  return (
    isEqual(readClassicAddress(one)?.account, readXAddress(other)?.account) ||
    isEqual(readXAddress(one)?.account, readClassicAddress(other)?.account)
  )
}
