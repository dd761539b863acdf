/** Valid addresses that nobody has the key of, as a provider gives them for deposits. Independent of the gateway. */
import { createHash } from 'node:crypto'

type Kind = 'bitcoin' | 'tron' | 'ripple' | 'solana' | 'ton' | 'evm'

/** By a word for the coin or the network; anything else is an EVM. */
const kinds: Readonly<Record<string, Kind>> = {
  btc: 'bitcoin',
  bitcoin: 'bitcoin',
  trx: 'tron',
  tron: 'tron',
  trc20: 'tron',
  usdtrx: 'tron',
  xrp: 'ripple',
  ripple: 'ripple',
  sol: 'solana',
  ton: 'ton',
}

/** Another one for each swap. `words`: the network, and the coin where its own chain has no word of its own. */
export function depositAddressOn(words: readonly string[], swap: string): string {
  const kind = words.map((word) => kinds[word.toLowerCase()]).find((known) => known !== undefined) ?? 'evm'
  const hash = sha256(Buffer.from(`deposit ${swap}`))
  const account = hash.subarray(0, 20)
  if (kind === 'evm') return `0x${account.toString('hex')}`
  if (kind === 'ton') return `0:${hash.toString('hex')}`
  if (kind === 'solana') return base58(hash, bitcoinLetters)
  if (kind === 'bitcoin') return segwit(account)
  return kind === 'tron' ? withChecksum(0x41, account, bitcoinLetters) : withChecksum(0, account, rippleLetters)
}

const bitcoinLetters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const rippleLetters = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz'
const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function withChecksum(version: number, account: Uint8Array, letters: string): string {
  const bytes = Buffer.from([version, ...account])
  return base58(Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, 4)]), letters)
}

function base58(bytes: Buffer, letters: string): string {
  let text = ''
  for (let rest = BigInt(`0x${bytes.toString('hex')}`); rest > 0n; rest /= 58n) text = letters[Number(rest % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return (letters[0] ?? '').repeat(zeros) + text
}

/** A witness program of version 0 (BIP 173). */
function segwit(account: Uint8Array): string {
  const bits = [...account].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const values = [0, ...(bits.match(/.{5}/g) ?? []).map((five) => Number.parseInt(five, 2))]
  const prefix = [3, 3, 0, 2, 3] // of `bc`
  const checksum = polymod([...prefix, ...values, 0, 0, 0, 0, 0, 0]) ^ 1
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (checksum >>> shift) & 31)
  return `bc1${[...values, ...check].map((value) => bech32Letters[value]).join('')}`
}

function polymod(values: readonly number[]): number {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
  return values.reduce((sum, value) => {
    const top = sum >>> 25
    return generators.reduce(
      (next, generator, at) => ((top >>> at) & 1 ? next ^ generator : next),
      ((sum & 0x1ffffff) << 5) ^ value,
    )
  }, 1)
}
