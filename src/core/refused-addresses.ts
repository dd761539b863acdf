import type { Proofs } from './proof.ts'
import { subjectOf } from './subject.ts'

/** Of which addresses a key was refused in the last minute. It lies where the limits lie. */
export interface RefusedAddresses {
  readonly has: (address: string) => Promise<boolean>
  /** Nobody waits for it, and one that cannot be kept changes no answer. */
  readonly add: (address: string) => void
}

/** Milliseconds. */
export const refusalLifetime = 60_000

/** `marks` end after `refusalLifetime`. */
export function refusedAddresses(marks: Proofs): RefusedAddresses {
  return {
    has: (address) => marks.has(subjectOf(address)),
    add: (address) => void marks.add(subjectOf(address)).catch(() => {}),
  }
}
