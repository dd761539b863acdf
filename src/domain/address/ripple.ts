/** Addresses of the XRP Ledger: classic ones, and X-addresses, which hold an account and its tag in one text. */
import { fromBase58Check, toBase58Check } from './encoding.ts'

const classicShape = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/
const xAddressShape = /^X[1-9A-HJ-NP-Za-km-z]{45,47}$/
const xAddressPrefix = Buffer.from([0x05, 0x44])
const payloadLength = 31

export interface RippleAccount {
  /** 20 bytes in hexadecimal. */
  readonly account: string
  /** Absent if the address has none; classic addresses never have one. */
  readonly tag?: string
}

/** Undefined for any other text. */
export function readXAddress(address: string): RippleAccount | undefined {
  if (!xAddressShape.test(address)) return undefined
  const bytes = fromBase58Check(address, 'ripple')
  if (bytes?.length !== payloadLength || !bytes.subarray(0, 2).equals(xAddressPrefix)) return undefined
  if (bytes.readUInt32LE(27) !== 0) return undefined
  const account = bytes.toString('hex', 2, 22)
  if (bytes[22] === 1) return { account, tag: String(bytes.readUInt32LE(23)) }
  return bytes[22] === 0 && bytes.readUInt32LE(23) === 0 ? { account } : undefined
}

/** Undefined for any other text. */
export function readClassicAddress(address: string): RippleAccount | undefined {
  const bytes = classicShape.test(address) ? fromBase58Check(address, 'ripple') : undefined
  return bytes?.length === 21 && bytes[0] === 0 ? { account: bytes.toString('hex', 1) } : undefined
}

export function rippleAccount(address: string): string | undefined {
  const account = (readClassicAddress(address) ?? readXAddress(address))?.account
  return account === undefined ? undefined : `account:${account}`
}

export function toClassicAddress({ account }: RippleAccount): string {
  return toBase58Check(Buffer.from(`00${account}`, 'hex'), 'ripple')
}
