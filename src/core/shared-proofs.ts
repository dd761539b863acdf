import { BoundedMap } from './bounded-map.ts'
import type { Outage } from './outage.ts'
import { type Proofs, proofLifetime } from './proof.ts'

/** Proofs that all replicas share. Both throw where the store does not answer. */
export interface SharedProofs {
  /** For how many more milliseconds the identity counts as accepted. */
  readonly restOf: (identity: string) => Promise<number>
  readonly add: (identity: string, lifetime: number) => Promise<void>
}

interface Known {
  until: number
  /** When the store is to hear of it again. */
  renewAt: number
}

/** The store hears of a proof again after this part of its lifetime. */
const renewal = 1 / 60
/** A bound on memory: a key that falls out is asked for again. */
const mostKnown = 100_000

const proven = Promise.resolve(true)
const unproven = Promise.resolve(false)
const noted = Promise.resolve()

/** Each ends `lifetime` milliseconds after the last one. The store is asked only for those that this process does not know; while it is lost, nobody else is proven by it. */
export function sharedProofs(shared: SharedProofs, outage: Outage, lifetime = proofLifetime): Proofs {
  const known = new BoundedMap<Known>({ maxEntries: mostKnown })
  const keep = (identity: string, until: number, renewAt: number): void => {
    const before = known.get(identity)
    // Changed in place: a map that is rewritten with every request leaves dead tables behind.
    if (before) Object.assign(before, { until, renewAt })
    else known.set(identity, { until, renewAt })
  }
  const ask = async (identity: string): Promise<boolean> => {
    const rest = await shared.restOf(identity).catch(() => outage.begin())
    if (rest) keep(identity, performance.now() + rest, 0)
    return Boolean(rest)
  }
  const tell = (identity: string): Promise<void> =>
    shared.add(identity, lifetime).catch(() => {
      outage.begin()
      const told = known.get(identity)
      if (told) told.renewAt = 0
    })
  return {
    has(identity) {
      const until = known.get(identity)?.until ?? 0
      if (performance.now() < until) return proven
      return outage.state === 'local' ? unproven : ask(identity)
    },
    add(identity) {
      const now = performance.now()
      if (now < (known.get(identity)?.renewAt ?? 0)) return noted
      const isLost = outage.state === 'local'
      keep(identity, now + lifetime, isLost ? 0 : now + lifetime * renewal)
      return isLost ? noted : tell(identity)
    },
  }
}
