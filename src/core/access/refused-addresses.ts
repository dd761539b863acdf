import { clientNetworkOf } from './client-network.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/** Of which addresses a key was refused in the last minute. It lies where the limits lie. */
export interface RefusedAddresses {
  readonly has: (address: string) => Promise<boolean>
  /** Nobody waits for it, and one that cannot be kept changes no answer. */
  readonly add: (address: string) => void
}

/** Milliseconds. */
export const refusalLifetimeMs = 60_000

/** `marks` end after `refusalLifetime`. */
export function refusedAddresses(marks: VerifiedKeys): RefusedAddresses {
  return {
    has: (address) => marks.has(clientNetworkOf(address)),
    add: (address) => void marks.add(clientNetworkOf(address)).catch(() => {}),
  }
}
