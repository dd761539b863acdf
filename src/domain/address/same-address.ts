/** Equality of addresses and of memos (docs/contract.md §3.6). */

import { readXAddress, rippleAccount, toClassicAddress } from './decoders.ts'
import { bareBech32, fromBase58Check } from './encoding.ts'
import { formatNames, formats } from './formats.ts'
import { readMuxed, toStellar } from './standards.ts'

const hexadecimal = /^0x0*([0-9a-f]+)$/i
/** Longer texts are no address of any network: they are equal byte for byte. */
const maxLength = 400

/**
 * Whether both addresses are the same by the rules of a network. An X-address and a muxed address equal the address of
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
export function accountKey(address: string): string {
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
export interface PaymentAddress {
  readonly address: string | undefined
  readonly extraId: string | undefined
}

/** Whether both are one: equal addresses with equal memos, wherever each memo stands. */
export function isSamePaymentAddress(one: PaymentAddress, other: PaymentAddress): boolean {
  if (memoOf(one.address, one.extraId) !== memoOf(other.address, other.extraId)) return false
  if (one.address === undefined || other.address === undefined) return one.address === other.address
  return sameAddress(one.address, other.address)
}

/** Equal for two spellings of one. Others may have it too: `isSamePaymentAddress` decides. */
export function paymentAddressKey({ address = '', extraId }: PaymentAddress): string {
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

// Equality of token contracts, in the spellings that networks, explorers and providers use (docs/contract.md §9).

/** `0x…`, also with the module and the name of a type of Move: `0x…::usdc::USDC`. */
const hexadecimalContract = /^0x([0-9a-f]+)(::.+)?$/i
const hedera = /^0\.0\.(\d{1,20})(?:-[a-z]{5})?$/
/** The account of TRON as it writes it itself: 41 and 20 bytes. */
const tronAccount = /^(?:0x)?41([0-9a-f]{40})$/i
const tronPrefix = 0x41
/** An asset that an account issues, on Stellar and the XRP Ledger: the code before or after the issuer, or the issuer alone. */
const issuer = 'G[A-Z2-7]{55}|r[1-9A-HJ-NP-Za-km-z]{24,34}'
const issuedAsset = new RegExp(`^(?:([A-Za-z0-9]{1,40})[-:.+/])?(${issuer})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$`)
const hexadecimalCode = /^([0-9A-F]{2})+$/

/**
 * Whether both are one contract of a network. Hexadecimal digits have no case and no leading zeros, TRON has two spellings, TON
 * three, and an issuer may stand with or without the code of its asset. Everything else is equal byte for byte.
 */
export function sameContract(one: string, other: string): boolean {
  const [a, b] = [canonical(one.trim()), canonical(other.trim())]
  return a === b || isSameIssue(issuedBy(a), issuedBy(b)) || sameAddress(a, b)
}

function canonical(contract: string): string {
  const [, tron] = tronAccount.exec(contract) ?? []
  if (tron !== undefined) return contractDigits(tron)
  const [, digits, type = ''] = hexadecimalContract.exec(contract) ?? []
  if (digits !== undefined) return contractDigits(digits) + type
  const [, entity] = hedera.exec(contract) ?? []
  if (entity !== undefined) return contractDigits(BigInt(entity).toString(16))
  if (/^T.{33}$/.test(contract)) {
    const account = fromBase58Check(contract, 'bitcoin')
    if (account?.[0] === tronPrefix) return contractDigits(account.toString('hex', 1))
  }
  return contract.replace(/^nep141:/, '')
}

function contractDigits(digits: string): string {
  return `0x${digits.toLowerCase().replace(/^0+(?=.)/, '')}`
}

interface Issue {
  readonly issuer: string
  readonly code: string | undefined
}

function issuedBy(contract: string): Issue | undefined {
  const [, before, account, after] = issuedAsset.exec(contract) ?? issuedAsset.exec(contract.toUpperCase()) ?? []
  return account === undefined ? undefined : { issuer: account, code: codeOf(before ?? after) }
}

/** A code of 20 bytes is written in hexadecimal digits, with zeros at its end. */
function codeOf(code: string | undefined): string | undefined {
  if (code === undefined || code.length < 40 || !hexadecimalCode.test(code)) return code
  return Buffer.from(code, 'hex').toString('latin1').replace(/\0+$/, '')
}

function isSameIssue(one: Issue | undefined, other: Issue | undefined): boolean {
  if (!one || !other || one.issuer !== other.issuer) return false
  return one.code === undefined || other.code === undefined || one.code === other.code
}
