/** Addresses of TON: raw (`0:…`), or in either base 64, bounceable or not. */
import { crc16 } from './encoding.ts'

const raw = /^(-1|0):([0-9a-f]{64})$/i
const friendly = /^[A-Za-z0-9+/_-]{48}$/
/** The first byte of a friendly address of the main network. */
const bounceable = 0x11
const notBounceable = 0x51

/** The workchain and the account as `0:…`; undefined for any other text, a wrong checksum or an address of the test network. */
export function tonAccount(address: string): string | undefined {
  const [, workchain, account] = raw.exec(address) ?? []
  if (account !== undefined) return `${workchain}:${account.toLowerCase()}`
  if (!friendly.test(address)) return undefined
  const bytes = Buffer.from(address, 'base64')
  if (bytes[0] !== bounceable && bytes[0] !== notBounceable) return undefined
  if (bytes.readUInt16BE(34) !== crc16(bytes.subarray(0, 34))) return undefined
  const chain = bytes.readInt8(1)
  return chain === 0 || chain === -1 ? `${chain}:${bytes.toString('hex', 2, 34)}` : undefined
}

/** The address of a wallet, not bounceable. */
export function toTonAddress(account: Buffer): string {
  const bytes = Buffer.concat([Buffer.of(notBounceable, 0), account, Buffer.alloc(2)])
  bytes.writeUInt16BE(crc16(bytes.subarray(0, 34)), 34)
  return bytes.toString('base64url')
}
