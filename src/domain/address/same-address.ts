/** Equality of addresses by the rules of their networks (docs/contract.md §3.6). */
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
 * Whether both addresses receive at the same place. An X-address equals its classic address, with any tag: the tag counts as the
 * memo (`memoOf`). Two X-addresses with different tags are not equal.
 */
export function sameAddress(one: string, other: string): boolean {
  return one === other || comparisons.some((compare) => compare(one, other))
}

/** The memo of an address: the separate extra id, or the tag in an X-address. */
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

/** Two different X-addresses are never equal: an account and its tag have only one X-address. */
function isSameRipple(one: string, other: string): boolean {
  return (
    isEqual(readClassicAddress(one)?.account, readXAddress(other)?.account) ||
    isEqual(readXAddress(one)?.account, readClassicAddress(other)?.account)
  )
}
