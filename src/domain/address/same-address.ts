/** Equality of addresses and of memos (docs/contract.md §3.6). */

import { readXAddress, rippleAccount, toClassicAddress } from './decoders.ts'
import { bareBech32, fromBase58Check } from './encoding.ts'
import { type FormatName, formatNames, formats } from './formats.ts'
import { monero, readIntegrated, readMuxed, stellar, toStellar } from './standards.ts'

const hexadecimal = /^0x0*([0-9a-f]+)$/i
/** Longer texts are no address of any network: they are equal byte for byte. */
const maxLength = 400

/**
 * Whether both addresses are the same by the rules of a network. An X-address and a muxed address equal the address of
 * their account, as an integrated address of Monero does: what they hold beside it counts as the memo (`memoOf`). Two of them are equal
 * only as texts.
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
  const known = hexadecimalOf(bare) ?? digitsOf(bare) ?? bareBech32(bare)
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
  if (muxed) return { address: toStellar(muxed.account), memo: muxed.id }
  const integrated = readIntegrated(address)
  return integrated && { address: integrated.address, memo: integrated.paymentId }
}

/**
 * The memo of an address: the separate extra id, or the one that the address holds. A tag of the XRP Ledger is an integer, and has no
 * leading zeros here; a hash of Stellar and a payment id of Monero are their bytes, in lower case; every other memo is its text.
 */
export function memoOf(address: string | undefined, extraId: string | undefined): string | undefined {
  if (address === undefined) return extraId || undefined
  const memo = extraId || splitAddress(address)?.memo
  if (memo === undefined) return undefined
  if (/^[0-9]+$/.test(memo) && rippleAccount(address) !== undefined) return memo.replace(/^0+(?=.)/, '')
  return hashOf(memo, address) ?? memo
}

/** Whether an address holds another memo than the one beside it: nobody can tell which of them counts. */
export function hasTwoMemos({ address, extraId }: PaymentAddress): boolean {
  if (!address || !extraId) return false
  const held = memoOf(address, undefined)
  return held !== undefined && held !== memoOf(address, extraId)
}

/** Whether no transaction to the address can carry a memo: it is a contract of Stellar, or of Monero, which has none any more. */
export function takesNoMemo(address: string): boolean {
  return stellar(address)?.startsWith('contract:') === true || monero(address) !== undefined
}

function holdsMemo(address: string): boolean {
  return (readXAddress(address) ?? readMuxed(address) ?? readIntegrated(address)) !== undefined
}

/** Of Stellar in hexadecimal digits or base 64, and a payment id of Monero. */
function hashOf(memo: string, address: string): string | undefined {
  const isHexadecimal = /^[0-9A-Fa-f]+$/.test(memo)
  if (isHexadecimal && memo.length === 64 && stellar(address) !== undefined) return memo.toLowerCase()
  if (isHexadecimal && memo.length === 16 && monero(address) !== undefined) return memo.toLowerCase()
  const isBase64 = /^[0-9A-Za-z+/]{43}=$/.test(memo)
  return isBase64 && stellar(address) !== undefined ? Buffer.from(memo, 'base64').toString('hex') : undefined
}

/** One account has two spellings, of which one alone is hexadecimal digits or bech32: `0x…`, and on Zcash `tex1…`. */
const twiceSpelled = ['FIL', 'HBAR', 'INJ', 'KAVA', 'RONIN', 'XDC', 'ZEC', 'ZIL'] as const satisfies readonly FormatName[]

/** As `hexadecimalOf` has them, of an account that is spelled otherwise. */
function digitsOf(address: string): string | undefined {
  for (const name of twiceSpelled) {
    const account = formats[name].accountOf(address)?.replace(/^id:/, filecoinIdStart)
    const digits = /^(?:account|number):([0-9a-f]+)$/.exec(account ?? '')?.[1]?.replace(/^0+(?=.)/, '')
    if (digits !== undefined) return digits
  }
  return undefined
}

/** Of 20 bytes, before the 8 of a number. */
const filecoinIdStart = `account:ff${'0'.repeat(22)}`

/** Networks that write their accounts as numbers may leave out leading zeros. */
function hexadecimalOf(address: string): string | undefined {
  return hexadecimal.exec(address)?.[1]?.toLowerCase()
}

// Equality of token contracts, in the spellings that networks, explorers and providers use (docs/contract-operators.md §9).

/** `0x…`, also with the module and the name of a type of Move: `0x…::usdc::USDC`. */
const hexadecimalContract = /^0x([0-9a-f]+)(::.+)?$/i
const hedera = /^0\.0\.(\d{1,20})(?:-[a-z]{5})?$/
/** The account of TRON as it writes it itself: 41 and 20 bytes. */
const tronAccount = /^(?:0x)?41([0-9a-f]{40})$/i
const tronPrefix = 0x41
/** An asset that an account issues, on Stellar and the XRP Ledger: the code before or after the issuer, or the issuer alone. */
const issuer = 'G[A-Z2-7]{55}|r[1-9A-HJ-NP-Za-km-z]{24,34}'
const issuedAsset = new RegExp(`^(?:([A-Za-z0-9]{1,40})[-:.+/])?(${issuer})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$`)
const hexadecimalCode = /^([0-9A-F]{2})+$/i

/**
 * Whether both are one contract of a network. Hexadecimal digits have no case and no leading zeros, TRON has two spellings, TON
 * three, and an issuer may stand with or without the code of its asset. Everything else is equal byte for byte.
 */
export function sameContract(one: string, other: string): boolean {
  const [a, b] = [canonical(one.trim()), canonical(other.trim())]
  return a === b || isSameIssue(issuedBy(a), issuedBy(b)) || sameAddress(a, b)
}

/** Of an address and of a contract: they have one in common if the address is that of the contract. A type of Sui is in its package. */
export function contractKeys(text: string, format: FormatName | undefined): readonly string[] {
  const [bare = text] = format === 'SUI' ? text.split('::', 1) : [text]
  const account = format && formats[format].accountOf(bare)
  return [canonical(bare), ...(account === undefined ? [] : [account])]
}

/** Who issues a token of Stellar or the XRP Ledger; undefined for any other contract. */
export function issuerOf(contract: string): string | undefined {
  return issuedBy(contract)?.issuer
}

/** Whether it is an account of Stellar or the XRP Ledger alone, which issues any number of tokens. */
export function isIssuerAlone(contract: string): boolean {
  const issue = issuedBy(canonical(contract.trim()))
  return issue !== undefined && issue.code === undefined
}

/** Equal for two spellings of one contract. Others may have it too, as all tokens of an issuer do: `sameContract` decides. */
export function contractKey(contract: string): string {
  const text = canonical(contract.trim())
  return hexadecimalContract.test(text) ? text : (issuedBy(text)?.issuer ?? accountKey(text))
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
