import { clientNetworkOf } from './client-network.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/** Client networks with a key that was refused in the last minute. Kept in the store of the limits. */
export interface RefusedAddresses {
  readonly has: (address: string) => Promise<boolean>
  /** Does not wait, and never fails. */
  readonly add: (address: string) => void
}

export const refusalLifetimeMs = 60_000

/** `marks` must expire after `refusalLifetimeMs`. */
export function refusedAddresses(marks: VerifiedKeys): RefusedAddresses {
  return {
    has: (address) => marks.has(clientNetworkOf(address)),
    add: (address) => void marks.add(clientNetworkOf(address)),
  }
}
