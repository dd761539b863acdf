/** Equality of token contracts, in the spellings that networks, explorers and providers use (docs/contract.md §9). */
import { fromBase58Check } from './encoding.ts'
import { sameAddress } from './same-address.ts'

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
