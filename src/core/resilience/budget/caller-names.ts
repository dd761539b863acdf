/** Under which names a caller is counted and blocked (docs/contract.md §8). */
import type { Caller } from '../../../domain/swap/service.ts'
import { clientNetworkOf } from '../../access/client-network.ts'

/**
 * The names differ only for callers without a valid key where the gateway issues keys: such callers are counted as one, but each
 * client network is blocked alone.
 */
export interface CallerNames {
  /** Who is counted: has one share of a budget, and counts once in a breaker, however many of its calls fail. */
  readonly countedAs: string
  /** Who is blocked if its calls alone fail. */
  readonly blockedAs: string
}

/** All callers without a valid key, if the gateway issues keys. */
const anonymous = 'anonymous'

export function callerNames(isKeyed: boolean, caller: Caller, usesGatewayKey: boolean): CallerNames {
  const countedAs = countedName(isKeyed, caller, usesGatewayKey)
  const isAnonymous = usesGatewayKey && caller.identity === undefined
  return { countedAs, blockedAs: isAnonymous ? clientNetworkOf(caller.address) : countedAs }
}

/** With issued keys: the account. Otherwise the key for keyed operations, and the client network for quotes, where a key is not verified. */
export function countedName(isKeyed: boolean, { identity, address }: Caller, usesGatewayKey: boolean): string {
  if (usesGatewayKey) return identity ?? anonymous
  return isKeyed && identity !== undefined ? identity : clientNetworkOf(address)
}
