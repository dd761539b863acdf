/** Between whom a provider's budget is shared, and whose failures count as one (docs/contract.md §8). */
import { keyed, type Op } from '../../../domain/swap/operations.ts'
import type { Caller } from '../../../domain/swap/service.ts'
import { clientNetworkOf } from '../../access/client-network.ts'

/** All callers who have no valid key, where keys are issued here. */
const anonymous = 'anonymous'

/** With keys issued here, the account. Else the key for what needs one, and the address for quotes, for which any key may be made up. */
export function consumerOf(op: Op, { identity, address }: Caller, usesGatewayKey: boolean): string {
  if (usesGatewayKey) return identity ?? anonymous
  return keyed.has(op) && identity !== undefined ? identity : clientNetworkOf(address)
}

/** Whose calls are held back where they alone fail: without a valid key, of those of one address. */
export function callerOf(op: Op, caller: Caller, usesGatewayKey: boolean): string {
  return usesGatewayKey && caller.identity === undefined ? clientNetworkOf(caller.address) : consumerOf(op, caller, usesGatewayKey)
}
