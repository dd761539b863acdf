/** Equality of addresses and of memos (docs/contract.md §3.6). */
import { bareBech32 } from './encoding.ts'
import { formatNames, formats } from './formats.ts'
import { readXAddress, rippleAccount, toClassicAddress } from './ripple.ts'
import { readMuxed, toStellar } from './standards.ts'

const hexadecimal = /^0x0*([0-9a-f]+)$/i
/** Longer texts are no address of any network: they are equal byte for byte. */
const maxLength = 400

/**
 * Whether both addresses receive at the same place by the rules of a network. An X-address and a muxed address equal the address of
 * their account: what they hold beside it counts as the memo (`memoOf`). Two of them are equal only as texts.
 */
export function sameAddress(one: string, other: string): boolean {
  if (one === other) return true
  if (one.length > maxLength || other.length > maxLength) return false
  for (const spellingOf of [hexadecimalOf, bareBech32]) {
    const [spelling, otherSpelling] = [spellingOf(one), spellingOf(other)]
    if (spelling !== undefined && otherSpelling !== undefined) return spelling === otherSpelling
  }
  if (holdsMemo(one) && holdsMemo(other)) return false
  return formatNames.some((name) => {
    const account = formats[name].accountOf(one)
    return account !== undefined && account === formats[name].accountOf(other)
  })
}

/** Equal for two spellings of one address. Other addresses may have it too: `sameAddress` decides. */
function accountKey(address: string): string {
  if (address.length > maxLength) return address
  const bare = splitAddress(address)?.address ?? address
  const known = hexadecimalOf(bare) ?? bareBech32(bare)
  if (known !== undefined) return known
  for (const name of formatNames) {
    const account = formats[name].accountOf(bare)
    if (account !== undefined) return account
  }
  return bare
}

/** Where money arrives: an address, and the memo beside it. */
export interface Place {
  readonly address: string | undefined
  readonly extraId: string | undefined
}

/** Whether both are one place: equal addresses with equal memos, wherever each memo stands. */
export function isSamePlace(one: Place, other: Place): boolean {
  if (memoOf(one.address, one.extraId) !== memoOf(other.address, other.extraId)) return false
  if (one.address === undefined || other.address === undefined) return one.address === other.address
  return sameAddress(one.address, other.address)
}

/** Equal for one place in two spellings. Other places may have it too: `isSamePlace` decides. */
export function placeKey({ address = '', extraId }: Place): string {
  return JSON.stringify([accountKey(address), memoOf(address, extraId) ?? null])
}

/** The account and the memo that one text holds; undefined for an address that holds only an account. */
export function splitAddress(address: string): { readonly address: string; readonly memo: string } | undefined {
  const ripple = readXAddress(address)
  if (ripple?.tag !== undefined) return { address: toClassicAddress(ripple), memo: ripple.tag }
  const muxed = readMuxed(address)
  return muxed && { address: toStellar(muxed.account), memo: muxed.id }
}

/**
 * The memo of an address: the separate extra id, or the one that the address holds. A tag of the XRP Ledger is an integer, and has no
 * leading zeros here; every other memo is its bytes.
 */
export function memoOf(address: string | undefined, extraId: string | undefined): string | undefined {
  if (address === undefined) return extraId || undefined
  const memo = extraId || splitAddress(address)?.memo
  if (memo === undefined || !/^[0-9]+$/.test(memo) || rippleAccount(address) === undefined) return memo
  return memo.replace(/^0+(?=.)/, '')
}

function holdsMemo(address: string): boolean {
  return (readXAddress(address) ?? readMuxed(address)) !== undefined
}

/** Networks that write their accounts as numbers may leave out leading zeros. */
function hexadecimalOf(address: string): string | undefined {
  return hexadecimal.exec(address)?.[1]?.toLowerCase()
}
