/** Under which name a caller has its share of a budget (docs/contract.md §8). */
import type { Caller } from '../../../domain/swap/service.ts'
import { clientNetworkOf } from '../../access/client-network.ts'

/** All callers without a valid key, if the gateway issues keys. */
const anonymous = 'anonymous'

/** With issued keys: the account. Otherwise the key for keyed operations, and the client network for quotes, where a key is not verified. */
export function countedName(isKeyed: boolean, { identity, address }: Caller, usesGatewayKey: boolean): string {
  if (usesGatewayKey) return identity ?? anonymous
  return isKeyed && identity !== undefined ? identity : clientNetworkOf(address)
}
