/** Decoders of networks that have an encoding of their own, and the encoders of most of them. As in `decoders.ts`. */
import { crc32 } from 'node:zlib'
import { blake256 } from '@noble/hashes/blake1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { sha224, sha512_256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58xmr } from '@scure/base'
import { fromCash, isEip55, toCash } from './decoders.ts'
import {
  crc16,
  doubleSha256,
  fromBase32,
  fromBase58,
  fromBech32,
  isBase58,
  isBech32,
  sha256,
  toBase32,
  toBase58,
  withoutChecksum,
} from './encoding.ts'

// Algorand: a key and the end of its hash.

const algorandHash = (key: Uint8Array): Uint8Array => sha512_256(key).subarray(-4)

export function algorand(address: string): string | undefined {
  const key = address.length === 58 ? withoutChecksum(fromBase32(address), 4, algorandHash) : undefined
  return key && `account:${key.toString('hex')}`
}

export function toAlgorand(key: Buffer): string {
  return toBase32(Buffer.concat([key, algorandHash(key)]))
}

// Cardano: Shelley (bech32) by the type in the upper half of the first byte, and Byron (base 58 of CBOR with a CRC-32).

const shelleyLengths: readonly ((length: number) => boolean)[] = [
  ...Array.from({ length: 4 }, () => (length: number) => length === 57),
  ...Array.from({ length: 2 }, () => (length: number) => length >= 32 && length <= 29 + 30),
  ...Array.from({ length: 2 }, () => (length: number) => length === 29),
]

export function shelley(address: string): string | undefined {
  const bytes = fromBech32(address, 'addr')
  const header = bytes?.[0] ?? 0
  const isMain = (header & 0x0f) === 1
  return bytes && isMain && shelleyLengths[header >> 4]?.(bytes.length) ? `account:${bytes.toString('hex')}` : undefined
}

/** CBOR: `[24(payload), CRC-32 of the payload]`; the payload is `[28 bytes, attributes, type]`. */
export function byron(address: string): string | undefined {
  const bytes = address.length > 50 && address.length <= 160 ? fromBase58(address) : undefined
  if (!bytes?.subarray(0, 4).equals(Buffer.from('82d81858', 'hex'))) return undefined
  const end = 5 + (bytes[4] ?? 0)
  const payload = bytes.subarray(5, end)
  if (!bytes.subarray(end).equals(cborInteger(crc32(payload)))) return undefined
  const isMain = payload.subarray(0, 3).equals(Buffer.from('83581c', 'hex')) && !hasNetworkMagic(payload.subarray(31))
  return isMain ? `byron:${bytes.toString('hex')}` : undefined
}

function cborInteger(value: number): Buffer {
  if (value < 24) return Buffer.of(value)
  const length = value < 0x100 ? 1 : value < 0x10000 ? 2 : 4
  const bytes = Buffer.alloc(1 + length)
  bytes[0] = 0x18 + Math.log2(length)
  bytes.writeUIntBE(value, 1, length)
  return bytes
}

/** Attribute 2 is the number of a test network. Each value is a byte string of less than 256 bytes. */
function hasNetworkMagic(attributes: Buffer): boolean {
  let at = 1
  for (let left = (attributes[0] ?? 0) - 0xa0; left > 0; left--) {
    if (attributes[at] === 2) return true
    const head = attributes[at + 1] ?? 0
    at += head === 0x58 ? 3 + (attributes[at + 2] ?? 0) : 2 + (head & 0x1f)
  }
  return false
}

// Decred: base 58 with two bytes for the kind and BLAKE-256.

const decredKinds: Readonly<Record<string, string>> = { '073f': 'key', '071f': 'edwards', '0701': 'schnorr', '071a': 'script' }
const decredHash = (payload: Buffer): Uint8Array => blake256(blake256(payload))

export function decred(address: string): string | undefined {
  const payload = /^D.{34,35}$/.test(address) ? withoutChecksum(fromBase58(address), 4, decredHash) : undefined
  const kind = decredKinds[payload?.toString('hex', 0, 2) ?? '']
  return payload?.length === 22 && kind !== undefined ? `${kind}:${payload.toString('hex', 2)}` : undefined
}

export function toDecred(hash: Buffer): string {
  const payload = Buffer.concat([Buffer.from('073f', 'hex'), hash])
  return toBase58(Buffer.concat([payload, decredHash(payload).subarray(0, 4)]))
}

// Filecoin: `f`, the protocol, and base 32 with four bytes of BLAKE2b over both. `f410f…` is an account of Ethereum's machine.

const filecoinKinds: readonly (readonly [prefix: string, kind: string, length: number, hashed: string])[] = [
  ['f1', 'key', 20, '01'],
  ['f2', 'actor', 20, '02'],
  ['f3', 'bls', 48, '03'],
  ['f410f', 'account', 20, '040a'],
]
/** How Ethereum's machine spells an `f0…`. */
const filecoinId = /^account:ff0{22}([0-9a-f]{16})$/

export function filecoin(address: string): string | undefined {
  if (/^f0[0-9]{1,19}$/.test(address)) return `id:${BigInt(address.slice(2)).toString(16).padStart(16, '0')}`
  for (const [prefix, kind, length, hashed] of filecoinKinds) {
    if (!address.startsWith(prefix) || address !== address.toLowerCase()) continue
    const bytes = withoutChecksum(fromBase32(address.slice(prefix.length).toUpperCase()), 4, filecoinHash(hashed))
    if (bytes?.length === length) return filecoinAccount(`${kind}:${bytes.toString('hex')}`)
  }
  return undefined
}

export function filecoinAccount(account: string | undefined): string | undefined {
  return account?.replace(filecoinId, 'id:$1')
}

export function toFilecoin(hash: Buffer): string {
  return `f1${toBase32(Buffer.concat([hash, filecoinHash('01')(hash)])).toLowerCase()}`
}

function filecoinHash(protocol: string): (payload: Buffer) => Uint8Array {
  return (payload) => blake2b(Buffer.concat([Buffer.from(protocol, 'hex'), payload]), { dkLen: 4 })
}

// Flow: 64 bits of a linear code that finds up to six wrong bits. A column of its parity check matrix for each bit, from the last one.

const flowColumns = [
  0x00001, 0x00002, 0x00004, 0x00008, 0x00010, 0x00020, 0x00040, 0x00080, 0x00100, 0x00200, 0x00400, 0x00800, 0x01000, 0x02000,
  0x04000, 0x08000, 0x10000, 0x20000, 0x40000, 0x7328d, 0x6689a, 0x6112f, 0x6084b, 0x433fd, 0x42aab, 0x41951, 0x233ce, 0x22a81,
  0x21948, 0x1ef60, 0x1deca, 0x1c639, 0x1bdd8, 0x1a535, 0x194ac, 0x18c46, 0x1632b, 0x1529b, 0x14a43, 0x13184, 0x12942, 0x118c1,
  0x0f812, 0x0e027, 0x0d00e, 0x0c83c, 0x0b01d, 0x0a831, 0x0982b, 0x07034, 0x0682a, 0x05819, 0x03807, 0x007d2, 0x00727, 0x0068e,
  0x0067c, 0x0059d, 0x004eb, 0x003b4, 0x0036a, 0x002d9, 0x001c7, 0x0003f,
]
const flowCheckBits = 19n

export function flow(address: string): string | undefined {
  const digits = /^0x([0-9a-fA-F]{16})$/.exec(address)?.[1]?.toLowerCase()
  return digits !== undefined && flowParity(BigInt(`0x${digits}`)) === 0 ? `account:${digits}` : undefined
}

/** The last bits are the check of the others. */
export function toFlow(bytes: Buffer): string {
  const word = (bytes.readBigUInt64BE() >> flowCheckBits) << flowCheckBits
  return `0x${(word | BigInt(flowParity(word))).toString(16).padStart(16, '0')}`
}

function flowParity(word: bigint): number {
  return flowColumns.reduce((parity, column, bit) => ((word >> BigInt(bit)) & 1n ? parity ^ column : parity), 0)
}

// Hedera: the number of an account, with or without a checksum (HIP-15), or an alias: of a key, or of Ethereum's machine.

const hederaNumber = /^0\.0\.([0-9]{1,19})(?:-([a-z]{5}))?$/
const hederaAlias = /^0\.0\.(?:(?:0x)?([0-9a-fA-F]{40,128})|([A-Z2-7]{40,120}))$/

export function hedera(address: string): string | undefined {
  const [, digits, checksum] = hederaNumber.exec(address) ?? []
  if (digits !== undefined) {
    return checksum === undefined || checksum === hederaChecksum(digits) ? `number:${BigInt(digits).toString(16)}` : undefined
  }
  const [, hex, base32] = hederaAlias.exec(address) ?? []
  const alias = hex?.toLowerCase() ?? (base32 === undefined ? undefined : fromBase32(base32)?.toString('hex'))
  return alias?.length === 40 ? hederaAccount(`account:${alias}`) : alias && `alias:${alias}`
}

/** Twelve zero bytes before a number are the account of that number. */
export function hederaAccount(account: string | undefined): string | undefined {
  const number = /^account:0{24}([0-9a-f]{16})$/.exec(account ?? '')?.[1]
  return number === undefined ? account : `number:${BigInt(`0x${number}`).toString(16)}`
}

export function hederaChecksum(digits: string): string {
  const [cubed, fifth] = [26 ** 3, 26 ** 5]
  const values = [...`0.0.${digits}`].map((letter) => (letter === '.' ? 10 : Number(letter)))
  const sumOf = (parity: number): number => values.reduce((sum, value, at) => (at % 2 === parity ? (sum + value) % 11 : sum), 0)
  const weighted = values.reduce((sum, value) => (sum * 31 + value) % cubed, 0)
  // The main network's id is one zero byte, and six more follow: they add nothing.
  const code = ((((values.length % 5) * 11 + sumOf(0)) * 11 + sumOf(1)) * cubed + weighted) % fifth
  let rest = Number((BigInt(code) * 1_000_003n) % BigInt(fifth))
  let letters = ''
  for (let place = 0; place < 5; place++, rest = Math.floor(rest / 26)) letters = String.fromCharCode(97 + (rest % 26)) + letters
  return letters
}

// Internet Computer: an account id, a principal, or a principal with a subaccount (ICRC-1). The ledger's account is the hash of both.

const icrc = /^(.+)-([a-z2-7]{7})\.([1-9a-f][0-9a-f]{0,63})$/

export function internetComputer(address: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(address)) {
    const hash = Buffer.from(address, 'hex')
    return crc32Of(hash.subarray(4)).equals(hash.subarray(0, 4)) ? `account:${hash.toString('hex', 4)}` : undefined
  }
  const [, text = address, checksum, digits = ''] = icrc.exec(address) ?? []
  const principal = principalOf(text)
  const subaccount = Buffer.from(digits.padStart(64, '0'), 'hex')
  if (!principal) return undefined
  const sum = toBase32(crc32Of(Buffer.concat([principal, subaccount]))).toLowerCase()
  return checksum === undefined || checksum === sum ? `account:${accountHash(principal, subaccount).toString('hex')}` : undefined
}

export function toInternetComputer(principal: Buffer): string {
  const hash = accountHash(principal, Buffer.alloc(32))
  return Buffer.concat([crc32Of(hash), hash]).toString('hex')
}

function principalOf(text: string): Buffer | undefined {
  const bytes = text.length <= 63 ? fromBase32(text.replaceAll('-', '').toUpperCase()) : undefined
  const principal = bytes?.subarray(4)
  if (!bytes || !principal || principal.length > 29 || !crc32Of(principal).equals(bytes.subarray(0, 4))) return undefined
  return text ===
    toBase32(bytes)
      .toLowerCase()
      .match(/.{1,5}/g)
      ?.join('-')
    ? principal
    : undefined
}

function accountHash(principal: Buffer, subaccount: Buffer): Buffer {
  return Buffer.from(sha224(Buffer.concat([Buffer.from('\x0aaccount-id'), principal, subaccount])))
}

function crc32Of(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

// Kaspa: as the CashAddr of Bitcoin Cash, of whole keys, with or without its prefix.

const kaspaKinds: Readonly<Record<number, readonly [kind: string, length: number]>> = {
  0: ['key', 32],
  1: ['ecdsa', 33],
  8: ['script', 32],
}

export function kaspa(address: string): string | undefined {
  const bare = address.replace(/^kaspa:/, '')
  const [version = -1, ...bytes] = (bare.length > 60 ? fromCash('kaspa', bare) : undefined) ?? []
  const [kind, length] = kaspaKinds[version] ?? []
  return bytes.length === length ? `${kind}:${Buffer.from(bytes).toString('hex')}` : undefined
}

export function toKaspa(key: Buffer): string {
  return `kaspa:${toCash('kaspa', Buffer.concat([Buffer.of(0), key]))}`
}

// Monero: base 58 in blocks, two keys, and the beginning of their Keccak hash. An integrated address holds a payment id too.

const subaddress = 42
/** Of standard and integrated addresses, and of subaddresses. */
const moneroLengths: Readonly<Record<number, number>> = { 18: 64, 19: 72, [subaddress]: 64 }

/** An integrated address equals the standard one of its keys: its payment id counts as the memo. */
export function monero(address: string): string | undefined {
  const payload = moneroPayload(address)
  return payload && `${payload[0] === subaddress ? 'sub' : 'standard'}:${payload.toString('hex', 1, 65)}`
}

/** The standard address and the payment id of an integrated address; undefined for any other text. */
export function readIntegrated(address: string): { readonly address: string; readonly paymentId: string } | undefined {
  const payload = address.startsWith('4') && address.length === 106 ? moneroPayload(address) : undefined
  return payload && { address: moneroAddress(18, payload.subarray(1, 65)), paymentId: payload.toString('hex', 65) }
}

function moneroPayload(address: string): Buffer | undefined {
  if ((address.length !== 95 && address.length !== 106) || !isBase58(address)) return undefined
  const payload = withoutChecksum(moneroBytes(address), 4, keccak_256)
  return payload && payload.length === 1 + (moneroLengths[payload[0] ?? 0] ?? 0) ? payload : undefined
}

/** Undefined if a block is above what its bytes can hold. */
function moneroBytes(address: string): Buffer | undefined {
  try {
    return Buffer.from(base58xmr.decode(address))
  } catch {
    return undefined
  }
}

export function toMonero(keys: Buffer): string {
  return moneroAddress(subaddress, keys)
}

function moneroAddress(kind: number, keys: Buffer): string {
  const payload = Buffer.concat([Buffer.of(kind), keys])
  return base58xmr.encode(Buffer.concat([payload, keccak_256(payload).subarray(0, 4)]))
}

// Nano: base 32 with letters of its own, and five bytes of BLAKE2b.

const nanoLetters = '13456789abcdefghijkmnopqrstuwxyz'
const nanoShape = /^(?:nano|xrb)_([13][13-9a-km-uw-z]{51})([13-9a-km-uw-z]{8})$/

export function nano(address: string): string | undefined {
  const [, key, checksum] = nanoShape.exec(address) ?? []
  if (key === undefined) return undefined
  const digits = numberOf(key, nanoLetters).toString(16).padStart(64, '0')
  return checksum === nanoChecksum(Buffer.from(digits, 'hex')) ? `account:${digits}` : undefined
}

export function toNano(key: Buffer): string {
  return `nano_${spelled(BigInt(`0x${key.toString('hex')}`), nanoLetters, 52)}${nanoChecksum(key)}`
}

function nanoChecksum(key: Buffer): string {
  const sum = Buffer.from(blake2b(key, { dkLen: 5 })).reverse()
  return spelled(BigInt(sum.readUIntBE(0, 5)), nanoLetters, 8)
}

function numberOf(text: string, letters: string): bigint {
  return [...text].reduce((number, letter) => number * 32n + BigInt(letters.indexOf(letter)), 0n)
}

function spelled(number: bigint, letters: string, length: number): string {
  return Array.from({ length }, (_, at) => letters[Number((number >> BigInt(5 * (length - 1 - at))) & 31n)]).join('')
}

// NEAR: a name, a key, or an account of Ethereum's machine (`0x…`) or of a state (`0s…`).

const nearName = /^(?:(?:[a-z0-9]+[-_])*[a-z0-9]+\.)*(?:[a-z0-9]+[-_])*[a-z0-9]+$/

export function nearAccount(address: string): string | undefined {
  const [, prefix, digits] = /^(0[xs])([0-9a-f]{40})$/.exec(address) ?? []
  if (digits !== undefined) return `${prefix === '0x' ? 'account' : 'state'}:${digits}`
  return /^[0-9a-f]{64}$/.test(address) ? `account:${address}` : undefined
}

/** Names without a dot have up to 31 characters: longer ones belong to nobody yet, or to whoever was first. */
export function isNearName(text: string): boolean {
  return text.length >= 2 && text.length <= (text.includes('.') ? 64 : 31) && nearName.test(text)
}

// Solana: a key of 32 bytes. It has no checksum: bech32 of another network with letters of base 58 only is no key.

export function solana(address: string): string | undefined {
  const key = address.length >= 32 && address.length <= 44 ? fromBase58(address) : undefined
  return key?.length === 32 && !isBech32(address) ? `account:${key.toString('hex')}` : undefined
}

// Stacks: base 32 of Crockford with four bytes of a hash over the version and the account (c32check).

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const stacksVersions: Readonly<Record<string, number>> = { P: 22, M: 20 }

export function stacks(address: string): string | undefined {
  const [, kind = '', digits = ''] = /^S([PM])([0-9A-HJKMNP-TV-Z]{24,39})$/.exec(address) ?? []
  const number = numberOf(digits, crockford).toString(16).padStart(48, '0')
  if (number.length !== 48 || kind === '') return undefined
  const hash = Buffer.from(number.slice(0, 40), 'hex')
  return address === toStacks(hash, kind) ? `${kind === 'P' ? 'key' : 'script'}:${hash.toString('hex')}` : undefined
}

export function toStacks(hash: Buffer, kind = 'P'): string {
  const version = Buffer.of(stacksVersions[kind] ?? 0)
  const bytes = Buffer.concat([hash, doubleSha256(Buffer.concat([version, hash])).subarray(0, 4)])
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `S${kind}${'0'.repeat(zeros)}${spelled(BigInt(`0x${bytes.toString('hex')}`), crockford, 39).replace(/^0+/, '')}`
}

// Stellar (SEP-23): a byte for the kind, a key, and CRC-16. A muxed account has an id of 64 bits behind its key.

const stellarKinds: Readonly<Record<number, readonly [kind: string, length: number]>> = {
  [6 << 3]: ['account', 32],
  [12 << 3]: ['account', 40],
  [2 << 3]: ['contract', 32],
}

export function stellar(address: string): string | undefined {
  const found = fromStrkey(address)
  return found && `${found.kind}:${found.payload.toString('hex', 0, 32)}`
}

/** The account and the id of a muxed account; undefined for any other text. */
export function readMuxed(address: string): { readonly account: Buffer; readonly id: string } | undefined {
  const payload = address.startsWith('M') ? fromStrkey(address)?.payload : undefined
  return payload && { account: payload.subarray(0, 32), id: String(payload.readBigUInt64BE(32)) }
}

export function toStellar(key: Buffer): string {
  const bytes = Buffer.concat([Buffer.of(6 << 3), key, Buffer.alloc(2)])
  bytes.writeUInt16LE(crc16(bytes.subarray(0, -2)), bytes.length - 2)
  return toBase32(bytes)
}

function fromStrkey(address: string): { readonly kind: string; readonly payload: Buffer } | undefined {
  const bytes = address.length === 56 || address.length === 69 ? fromBase32(address) : undefined
  if (!bytes || bytes.readUInt16LE(bytes.length - 2) !== crc16(bytes.subarray(0, -2))) return undefined
  const [kind, length = 0] = stellarKinds[bytes[0] ?? 0] ?? []
  return kind !== undefined && bytes.length === length + 3 ? { kind, payload: bytes.subarray(1, -2) } : undefined
}

// Zilliqa: letters of both cases are a checksum of its own, or, since it has Ethereum's machine, that of EIP-55.

export function isZilliqaCase(digits: string): boolean {
  const number = BigInt(`0x${sha256(Buffer.from(digits.toLowerCase(), 'hex')).toString('hex')}`)
  const upper = (at: number): boolean => ((number >> BigInt(255 - 6 * at)) & 1n) === 1n
  const isOwn = [...digits].every((digit, at) => !hasCase(digit) || (digit === digit.toUpperCase()) === upper(at))
  return isOwn || isEip55(digits)
}

function hasCase(digit: string): boolean {
  return /[a-f]/i.test(digit)
}
