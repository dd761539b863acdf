/** The consumers that share a provider's budget, and whose failures count once (docs/contract.md §8). */
import type { Caller } from '../../../domain/swap/service.ts'
import { clientNetworkOf } from '../../access/client-network.ts'

/** All callers without a valid key, if the gateway issues keys. */
const anonymous = 'anonymous'

/** With issued keys: the account. Otherwise the key for keyed operations, and the client network for quotes, where a key is not verified. */
export function consumerOf(isKeyed: boolean, { identity, address }: Caller, usesGatewayKey: boolean): string {
  if (usesGatewayKey) return identity ?? anonymous
  return isKeyed && identity !== undefined ? identity : clientNetworkOf(address)
}

/** The caller that is blocked if its calls alone fail: the consumer, or without a valid key the client network. */
export function callerOf(consumer: string, { identity, address }: Caller, usesGatewayKey: boolean): string {
  return usesGatewayKey && identity === undefined ? clientNetworkOf(address) : consumer
}
