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
    // It rejects beyond its points, which are out of reach: the limit is the caller's, and every request is counted.
    charge: (bucket, limit, window) =>
      limiterFor(window)
        .consume(bucket)
        .then(({ consumedPoints, msBeforeNext }) => ({
          isOver: consumedPoints > limit,
          remaining: Math.max(0, limit - consumedPoints),
          reset: Math.ceil(msBeforeNext / 1000),
        })),
  }
}

/** Milliseconds after the last acceptance. */
const proofLifetime = 3_600_000
/** A proof is renewed no more often: a map that is rewritten with every request costs more than the request. */
const renewal = 60_000
/** A bound on memory: a key that falls out only has to prove itself again. */
const mostProofs = 100_000

const proven = Promise.resolve(true)
const unproven = Promise.resolve(false)
const noted = Promise.resolve()

/** Proofs of this process alone. */
export function memoryProofs(): Proofs {
  const provenAt = new Map<string, number>()
  const ageOf = (identity: string): number => performance.now() - (provenAt.get(identity) ?? Number.NEGATIVE_INFINITY)
  return {
    has: (identity) => (ageOf(identity) < proofLifetime ? proven : unproven),
    add(identity) {
      if (ageOf(identity) < renewal) return noted
      provenAt.delete(identity)
      const [oldest] = provenAt.size < mostProofs ? [] : provenAt.keys()
      if (oldest !== undefined) provenAt.delete(oldest)
      provenAt.set(identity, performance.now())
      return noted
    },
  }
}
