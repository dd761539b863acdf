/** Who a caller is to the breakers of a provider (docs/contract.md §8). */

import { BoundedMap } from '../../../domain/bounded-map.ts'
import { cacheShares } from '../../../domain/cache-memory.ts'
import type { Caller } from '../../../domain/swap/service.ts'
import { clientNetworkOf } from '../../access/client-network.ts'

export interface BreakerCaller {
  /** Undefined for a caller whose key nobody has verified: addresses and made-up keys cost nothing, so their failures open no breaker. */
  readonly verifiedAs: string | undefined
  /** Who is blocked if its calls alone fail. */
  readonly blockedAs: string
}

/** A key stays verified for this time after the provider answered a call with it. */
const verifiedForMs = 3_600_000
/** A bound on memory. */
const maxKeys = 20_000

/** Accounts are verified where the gateway issues the keys. A key of the provider is verified by the provider's answer to a call that needs it. */
export class BreakerCallers {
  private readonly usesGatewayKey: boolean
  private readonly clock: () => number
  private readonly answeredAt = new BoundedMap<number>({
    share: cacheShares.callers,
    maxEntries: maxKeys,
    lifetimeMs: verifiedForMs,
  })

  constructor(usesGatewayKey: boolean, clock: () => number) {
    this.usesGatewayKey = usesGatewayKey
    this.clock = clock
  }

  of({ identity, address }: Caller, isKeyed: boolean): BreakerCaller {
    const verifiedAs = identity !== undefined && this.isVerified(identity) ? identity : undefined
    const ownName = isKeyed ? identity : verifiedAs
    return { verifiedAs, blockedAs: ownName ?? clientNetworkOf(address) }
  }

  /** The provider answered a call that needs the key. */
  verify({ identity }: Caller): void {
    const now = this.clock()
    if (!this.usesGatewayKey && identity !== undefined) this.answeredAt.set(identity, now, now)
  }

  private isVerified(identity: string): boolean {
    if (this.usesGatewayKey) return true
    const now = this.clock()
    return now - (this.answeredAt.get(identity, now) ?? Number.NEGATIVE_INFINITY) < verifiedForMs
  }
}
