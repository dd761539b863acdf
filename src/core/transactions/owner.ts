import { Fault } from '../../domain/faults/fault.ts'
import type { Context } from '../../domain/swap/service.ts'

/** Whose call it is. A transaction belongs to somebody: without an identity there is none. */
export function ownerOf({ caller }: Context): string {
  if (caller.identity === undefined) throw new Fault('internal', 'A transaction was asked for by nobody.')
  return caller.identity
}
