/** What a network looks like from outside: its addresses, its memos, its hashes, what a payout on it costs. */

import { fold } from '../../domain/asset.ts'
import { ethereumLike, type Network, networks, spell } from './networks.ts'

const other = ethereumLike('0.5')

/** A network that is not in the list looks like one more Ethereum. */
export function networkOf(name: string): Network {
  return networks[fold(name)] ?? other
}

/** One way from a text to 64 hexadecimal digits. */
export type Digest = (text: string) => string

/**
 * The address on which a transaction waits for its deposit. No two transactions share one. It is valid, and made from a hash: nobody
 * has its key.
 */
export function depositAddress({ address }: Network, id: string, digest: Digest): string {
  const digits = ['address', 'address, continued', 'address, concluded'].map((part) => digest(`${part} ${id}`)).join('')
  return address(Buffer.from(digits, 'hex'))
}

/** Nine digits, which every network with memos takes: a tag of the XRP Ledger has 32 bits. */
export function memo(id: string, digest: Digest): string {
  return spell(digest(`memo ${id}`), '123456789', 9)
}

/** The hash of the chain's transaction: `what` is its part in the swap. */
export function transactionHash({ hashPrefix }: Network, what: 'deposit' | 'payout', id: string, digest: Digest): string {
  return hashPrefix + digest(`${what} ${id}`)
}
