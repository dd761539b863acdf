/** Valid addresses of each format, as many as wanted, and always the same ones. */
import { createECDH, createHash } from 'node:crypto'
import { bech32, bech32m } from '@scure/base'
import { isEip55, toCashAddress, toSs58, toTonAddress } from '../../src/domain/address/decoders.ts'
import { toBase58, toBase58Check } from '../../src/domain/address/encoding.ts'
import type { FormatName } from '../../src/domain/address/formats.ts'
import * as own from '../../src/domain/address/standards.ts'

/** An address of these 96 bytes. */
type Generator = (bytes: Buffer) => string

const base58Check =
  (version: string, length = 20, alphabet: 'bitcoin' | 'ripple' = 'bitcoin'): Generator =>
  (bytes) =>
    toBase58Check(Buffer.concat([Buffer.from(version, 'hex'), bytes.subarray(0, length)]), alphabet)
const plain =
  (prefix: string, length: number, encoding = bech32): Generator =>
  (bytes) =>
    encoding.encode(prefix, encoding.toWords(bytes.subarray(0, length)), false)
const segwit =
  (prefix: string, version: number, length: number): Generator =>
  (bytes) => {
    const encoding = version === 0 ? bech32 : bech32m
    return encoding.encode(prefix, [version, ...encoding.toWords(bytes.subarray(0, length))], false)
  }
/** Of a key: half of all numbers are none. */
const taproot =
  (prefix: string): Generator =>
  (bytes) => {
    const key = createECDH('secp256k1')
    key.setPrivateKey(bytes.subarray(0, 32))
    return segwit(prefix, 1, 32)(key.getPublicKey(null, 'compressed').subarray(1))
  }
const hexadecimal =
  (prefix: string, length: number): Generator =>
  (bytes) =>
    prefix + bytes.toString('hex', 0, length)
const of =
  (length: number, encode: (bytes: Buffer) => string): Generator =>
  (bytes) =>
    encode(bytes.subarray(0, length))
const cosmos = (prefix: string): readonly Generator[] => [plain(prefix, 20), plain(prefix, 32)]
const ss58 = (...networks: readonly number[]): readonly Generator[] =>
  networks.map((network) => of(32, (key) => toSs58(network, key)))

/** Letters of both cases by EIP-55, found letter by letter: the checksum looks at the lower case alone. */
const eip55: Generator = (bytes) => {
  const digits = bytes.toString('hex', 0, 20)
  const hash = createHash('keccak-256').update(digits).digest('hex')
  const mixed = [...digits].map((digit, at) => (Number.parseInt(hash.charAt(at), 16) > 7 ? digit.toUpperCase() : digit)).join('')
  if (!isEip55(mixed)) throw new Error(`${mixed} has another checksum by @noble/hashes`)
  return mixed
}
const ethereum: readonly Generator[] = [(bytes) => `0x${eip55(bytes)}`, hexadecimal('0x', 20)]

export const generators: Readonly<Record<FormatName, readonly Generator[]>> = {
  ADA: [
    (bytes) => plain('addr', 57)(Buffer.concat([Buffer.of(0x01), bytes.subarray(0, 56)])),
    (bytes) => plain('addr', 29)(Buffer.concat([Buffer.of(0x61), bytes.subarray(0, 28)])),
  ],
  AKT: cosmos('akash'),
  ALGO: [of(32, own.toAlgorand)],
  APT: [hexadecimal('0x', 32)],
  ATOM: cosmos('cosmos'),
  BCH: [of(20, toCashAddress), base58Check('00'), base58Check('05')],
  BSV: [base58Check('00')],
  BTC: [base58Check('00'), base58Check('05'), segwit('bc', 0, 20), segwit('bc', 0, 32), taproot('bc')],
  DASH: [base58Check('4c'), base58Check('10')],
  DCR: [of(20, own.toDecred)],
  DGB: [base58Check('1e'), base58Check('3f'), segwit('dgb', 0, 20)],
  DOGE: [base58Check('1e'), base58Check('16')],
  DOT: ss58(0, 42),
  EGLD: [plain('erd', 32)],
  ETH: ethereum,
  FIL: [of(20, own.toFilecoin), ...ethereum],
  FLOW: [of(8, own.toFlow)],
  HBAR: [
    (bytes) => `0.0.${bytes.readUInt32BE(0)}`,
    (bytes) => `0.0.${bytes.readUInt32BE(0)}-${own.hederaChecksum(String(bytes.readUInt32BE(0)))}`,
  ],
  ICP: [of(29, own.toInternetComputer)],
  ICX: [hexadecimal('hx', 20), hexadecimal('cx', 20)],
  INJ: [...cosmos('inj'), ...ethereum],
  KAS: [of(32, own.toKaspa), of(32, (key) => own.toKaspa(key).slice('kaspa:'.length))],
  KAVA: [...cosmos('kava'), ...ethereum],
  KSM: ss58(2, 42),
  LTC: [base58Check('30'), base58Check('32'), base58Check('05'), segwit('ltc', 0, 20), taproot('ltc'), segwit('ltcmweb', 0, 66)],
  LUNA: cosmos('terra'),
  MINA: [base58Check('cb0101', 33)],
  NEAR: [(bytes) => `${bytes.toString('hex', 0, 6)}.near`, hexadecimal('', 32), hexadecimal('0x', 20)],
  OSMO: cosmos('osmo'),
  QTUM: [base58Check('3a'), base58Check('32'), segwit('qc', 0, 20)],
  RONIN: [...ethereum, (bytes) => `ronin:${eip55(bytes)}`],
  ROSE: [plain('oasis', 21)],
  RUNE: [plain('thor', 20)],
  SEI: [...cosmos('sei'), ...ethereum],
  SOL: [of(32, toBase58), (bytes) => toBase58(Buffer.concat([Buffer.alloc(2), bytes.subarray(0, 30)]))],
  STRK: [hexadecimal('0x00', 31), (bytes) => starknetCase(`00${bytes.toString('hex', 0, 31)}`)],
  STX: [of(20, own.toStacks), of(20, (hash) => own.toStacks(hash, 'M'))],
  SUI: [hexadecimal('0x', 32)],
  TAO: ss58(42),
  TIA: cosmos('celestia'),
  TON: [of(32, toTonAddress), hexadecimal('0:', 32)],
  TRX: [base58Check('41')],
  XDC: [...ethereum, (bytes) => `xdc${eip55(bytes)}`],
  XLM: [of(32, own.toStellar)],
  XMR: [of(64, own.toMonero)],
  XNO: [of(32, own.toNano)],
  XRP: [base58Check('00', 20, 'ripple'), (bytes) => base58Check('0544', 29, 'ripple')(withTag(bytes))],
  XTZ: ['06a19f', '06a1a1', '06a1a4', '06a1a6', '025a79'].map((version) => base58Check(version)),
  ZEC: [base58Check('1cb8'), base58Check('1cbd'), plain('zs', 43), plain('u', 61, bech32m), plain('tex', 20, bech32m)],
  ZIL: [plain('zil', 20), ...ethereum],
}

/** Letters of both cases as starknet.js writes them (getChecksumAddress): the hash is that of the number. */
function starknetCase(digits: string): string {
  const number = BigInt(`0x${digits}`).toString(16)
  const hash = createHash('keccak-256')
    .update(Buffer.from(number.padStart(number.length + (number.length % 2), '0'), 'hex'))
    .digest('hex')
  return `0x${[...digits].map((digit, at) => (Number.parseInt(hash.charAt(at), 16) > 7 ? digit.toUpperCase() : digit)).join('')}`
}

function withTag(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, 20), Buffer.of(1), bytes.subarray(20, 24), Buffer.alloc(4)])
}

/** So many addresses, of each form in turn. */
export function* addressesOf(format: FormatName, count: number): IterableIterator<string> {
  const forms = generators[format]
  for (let at = 0; at < count; at++) {
    const bytes = Buffer.concat(['a', 'b', 'c'].map((part) => createHash('sha256').update(`${format} ${at} ${part}`).digest()))
    yield (forms[at % forms.length] as Generator)(bytes)
  }
}

/** Of bytes that begin with zeros: base 58 writes them with fewer letters. */
export function shortAddressesOf(format: FormatName): readonly string[] {
  const tails = [1, 8, 19].map((zeros) =>
    Buffer.concat([Buffer.alloc(zeros), createHash('sha512').update(format).digest(), Buffer.alloc(32)]),
  )
  return tails.flatMap((bytes) => generators[format].map((generate) => generate(bytes.subarray(0, 96))))
}

const classes = [/[0-9]/, /[a-f]/, /[g-z]/, /[A-F]/, /[G-Z]/]

/** One letter of its second half is another letter of the address, of the same class: it has the same alphabet. */
export function withTypo(address: string, at: number): string {
  const half = Math.floor(address.length / 2)
  for (let step = 0; step < half; step++) {
    const place = half + ((at * 7 + step) % (address.length - half))
    const letter = address.charAt(place)
    const kind = classes.find((one) => one.test(letter))
    const other = [...address.slice(half)].find((one) => one !== letter && kind?.test(one))
    if (other !== undefined) return address.slice(0, place) + other + address.slice(place + 1)
  }
  return address
}
