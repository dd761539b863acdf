/** Between whom a provider's budget is shared, and whose failures count as one (docs/contract.md §8). */
import { type Caller, keyed, type Op } from '../domain/operations.ts'
import { subjectOf } from './subject.ts'

/** All callers who have no valid key, where keys are issued here. */
const withoutKey = 'anonymous'

/** With keys issued here, the account. Else the key for what needs one, and the address for quotes, for which any key may be made up. */
export function askerOf(op: Op, { identity, address }: Caller, isOwnKey: boolean): string {
  if (isOwnKey) return identity ?? withoutKey
  return keyed.has(op) && identity !== undefined ? identity : subjectOf(address)
}

/** Whose calls are held back where they alone fail: without a valid key, of those of one address. */
export function callerOf(op: Op, caller: Caller, isOwnKey: boolean): string {
  return isOwnKey && caller.identity === undefined ? subjectOf(caller.address) : askerOf(op, caller, isOwnKey)
}
