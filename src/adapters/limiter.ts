/** rate-limiter-flexible: atomic fixed windows, the same API in memory and on Redis. */
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Limiter } from '../core/limits.ts'
import type { Proofs } from '../core/proof.ts'

/** Limits of this process alone. */
export function memoryLimiter(): Limiter {
  const limiters = new Map<number, RateLimiterMemory>()
  const limiterFor = (window: number): RateLimiterMemory => {
    const known = limiters.get(window)
    if (known) return known
    const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: window })
    limiters.set(window, limiter)
    return limiter
  }
  return {
    async charge(bucket, limit, window) {
      // It rejects beyond its points, which are out of reach: the limit is the caller's, and every request is counted.
      const state = await limiterFor(window).consume(bucket)
      const remaining = Math.max(0, limit - state.consumedPoints)
      return { isOver: state.consumedPoints > limit, remaining, reset: Math.ceil(state.msBeforeNext / 1000) }
    },
  }
}

/** Milliseconds after the last acceptance. */
const proofLifetime = 3_600_000
/** A proof is renewed no more often: a map that is rewritten with every request costs more than the request. */
const renewal = 60_000
/** A bound on memory: a key that falls out only has to prove itself again. */
const mostProofs = 100_000

/** Proofs of this process alone. */
export function memoryProofs(): Proofs {
  const provenAt = new Map<string, number>()
  return {
    has: async (identity) => performance.now() - (provenAt.get(identity) ?? Number.NEGATIVE_INFINITY) < proofLifetime,
    add: async (identity) => {
      if (performance.now() - (provenAt.get(identity) ?? Number.NEGATIVE_INFINITY) < renewal) return
      provenAt.delete(identity)
      const [oldest] = provenAt.size < mostProofs ? [] : provenAt.keys()
      if (oldest !== undefined) provenAt.delete(oldest)
      provenAt.set(identity, performance.now())
    },
  }
}
