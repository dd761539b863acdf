/** Addresses of TON: raw (`0:…`), or in either base 64, bounceable or not. */

const raw = /^(-1|0):([0-9a-f]{64})$/i
const friendly = /^[A-Za-z0-9+/_-]{48}$/
/** Flags in the first byte of a friendly address. */
const bounceable = 0x11
const notBounceable = 0x51
const testOnly = 0x80

/** The workchain and the account as `0:…`; undefined for any other text or a wrong checksum. */
export function tonAccount(address: string): string | undefined {
  const [, workchain, account] = raw.exec(address) ?? []
  if (account !== undefined) return `${workchain}:${account.toLowerCase()}`
  if (!friendly.test(address)) return undefined
  const bytes = Buffer.from(address, 'base64')
  const kind = (bytes[0] ?? 0) & ~testOnly
  if ((kind !== bounceable && kind !== notBounceable) || bytes.readUInt16BE(34) !== crc16(bytes.subarray(0, 34))) return undefined
  return `${bytes.readInt8(1)}:${bytes.toString('hex', 2, 34)}`
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000 ? ((sum << 1) ^ 0x1021) & 0xffff : (sum << 1) & 0xffff
  }
  return sum
}
