import { Fault } from '../../domain/fault.ts'
import type { Context } from '../../domain/service.ts'

/** The caller's identity, which owns its transactions. Throws `internal` if the caller is not authenticated. */
export function ownerOf({ caller }: Context): string {
  if (caller.identity === undefined) throw new Fault('internal', 'A transaction was requested without an identity.')
  return caller.identity
}
