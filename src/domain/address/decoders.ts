/**
 * Decoders of encodings that several networks share. Each gives the account behind an address as `kind:hexadecimal digits`: equal
 * texts are one account. Undefined if the text is no such address, or its checksum is wrong.
 */
import { blake2b } from '@noble/hashes/blake2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { fromBase58, fromBase58Check, fromBech32, fromSegwit, toBase58, withoutChecksum } from './encoding.ts'

export type Decoder = (address: string) => string | undefined

export function firstOf(...decoders: readonly Decoder[]): Decoder {
  return (address) => {
    for (const decode of decoders) {
      const account = decode(address)
      if (account !== undefined) return account
    }
    return undefined
  }
}

/**
 * Payloads of base58check: the bytes of each kind, in hexadecimal digits, and then a hash of this length. `start` is how these begin in
 * base 58: decoding is slow.
 */
export function base58Check(start: RegExp, kinds: Readonly<Record<string, string | readonly string[]>>, length = 20): Decoder {
  const versions = Object.entries(kinds).flatMap(([kind, own]) => [own].flat().map((version) => [kind, version] as const))
  return (address) => {
    if (!start.test(address)) return undefined
    const payload = fromBase58Check(address, 'bitcoin')?.toString('hex')
    const [kind, version = ''] =
      versions.find(([, own]) => payload?.startsWith(own) && payload.length === own.length + 2 * length) ?? []
    return kind === undefined ? undefined : `${kind}:${payload?.slice(version.length)}`
  }
}

/** Witness programs. Those of version 0 are hashes of a key or a script. */
export function segwit(prefix: string): Decoder {
  return (address) => {
    const found = fromSegwit(address, prefix)
    return found && `witness${found.version}:${found.program.toString('hex')}`
  }
}

/** bech32 of so many bytes. */
export function bech32Account(prefix: string, lengths: readonly number[], variant?: 'bech32m'): Decoder {
  return (address) => {
    const bytes = fromBech32(address, prefix, variant)
    return bytes && lengths.includes(bytes.length) ? `account:${bytes.toString('hex')}` : undefined
  }
}

export interface HexadecimalForm {
  readonly prefix?: string
  readonly kind?: string
  readonly minDigits: number
  /** Default: `minDigits`. Leading zeros may be left out. */
  readonly maxDigits?: number
  /** The account's number is below this. */
  readonly limit?: bigint
}

export function hexadecimal({
  prefix = '0x',
  kind = 'account',
  minDigits,
  maxDigits = minDigits,
  limit,
}: HexadecimalForm): Decoder {
  const shape = new RegExp(`^${prefix}([0-9a-fA-F]{${minDigits},${maxDigits}})$`)
  return (address) => {
    const digits = shape.exec(address)?.[1]?.toLowerCase().padStart(maxDigits, '0')
    if (digits === undefined || (limit !== undefined && BigInt(`0x${digits}`) >= limit)) return undefined
    return `${kind}:${digits}`
  }
}

/** An account of Ethereum's virtual machine. Letters of both cases are a checksum (EIP-55); in one case there is none. */
export function ethereumAccount(prefixes: readonly string[] = ['0x'], isRightCase = isEip55): Decoder {
  return (address) => {
    const digits = address.slice(-40)
    if (!/^[0-9a-fA-F]{40}$/.test(digits) || !prefixes.includes(address.slice(0, -40))) return undefined
    return !hasBothCases(digits) || isRightCase(digits) ? `account:${digits.toLowerCase()}` : undefined
  }
}

export function hasBothCases(digits: string): boolean {
  return /[a-f]/.test(digits) && /[A-F]/.test(digits)
}

export function isEip55(digits: string): boolean {
  const lower = digits.toLowerCase()
  const hash = Buffer.from(keccak_256(Buffer.from(lower))).toString('hex')
  return digits === [...lower].map((digit, at) => (hash.charAt(at) >= '8' ? digit.toUpperCase() : digit)).join('')
}

/** SS58 of Substrate: the byte of a network, and an account of 32 bytes. `start` as in `base58Check`. */
export function ss58(start: RegExp, networks: readonly number[]): Decoder {
  return (address) => {
    if (!start.test(address) || address.length > 50) return undefined
    const payload = withoutChecksum(fromBase58(address), 2, ss58Hash)
    return payload?.length === 33 && networks.includes(payload[0] as number) ? `account:${payload.toString('hex', 1)}` : undefined
  }
}

export function toSs58(network: number, account: Buffer): string {
  const payload = Buffer.concat([Buffer.of(network), account])
  return toBase58(Buffer.concat([payload, ss58Hash(payload).subarray(0, 2)]))
}

function ss58Hash(payload: Buffer): Uint8Array {
  return blake2b(Buffer.concat([Buffer.from('SS58PRE'), payload]))
}
