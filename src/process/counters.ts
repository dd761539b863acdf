/** Where limits, proofs and budgets are counted: in Redis where the configuration names one, else in this process. */
import { memoryLimiter, memoryProofs } from '../adapters/limiter.ts'
import type { Config } from '../config.ts'
import type { Budgets } from '../core/budget.ts'
import { budgetFallback } from '../core/budget-fallback.ts'
import { fallback } from '../core/fallback.ts'
import type { Limiter } from '../core/limits.ts'
import { memoryBudgets } from '../core/memory-budgets.ts'
import { Outage } from '../core/outage.ts'
import { type Proofs, proofLifetime } from '../core/proof.ts'
import { type RefusedAddresses, refusalLifetime, refusedAddresses } from '../core/refused-addresses.ts'
import { sharedProofs } from '../core/shared-proofs.ts'
import type { Observer } from '../domain/observation.ts'

export interface Counters {
  readonly limiter: Limiter
  readonly proofs: Proofs
  readonly refusedAddresses: RefusedAddresses
  readonly budgets: Budgets
  readonly close: () => void
}

const clock = (): number => performance.now()

/** Where Redis is down it opens all the same, a second later, and counts here until Redis is there. */
export async function openCounters({ redis, limits }: Pick<Config, 'redis' | 'limits'>, observe: Observer): Promise<Counters> {
  const local = { limiter: memoryLimiter(), budgets: memoryBudgets(clock) }
  if (redis.url === '') {
    const refused = refusedAddresses(memoryProofs(refusalLifetime))
    return { ...local, proofs: memoryProofs(proofLifetime), refusedAddresses: refused, close: () => {} }
  }
  // Loaded only where it is wanted.
  const [{ openRedis }, { redisLimiter }, { redisProofs }, { redisBudgets }] = await Promise.all([
    import('../adapters/redis.ts'),
    import('../adapters/redis/limiter.ts'),
    import('../adapters/redis/proofs.ts'),
    import('../adapters/redis/budgets.ts'),
  ])
  const connection = await openRedis(redis.url)
  const outage = new Outage(connection.generation, observe)
  const { replicas } = limits
  const shared = { limiter: redisLimiter(connection), budgets: redisBudgets(connection) }
  const counters = {
    limiter: fallback({ shared: shared.limiter, local: local.limiter, replicas, outage, observe }),
    proofs: sharedProofs(redisProofs(connection, 'proof'), outage),
    refusedAddresses: refusedAddresses(sharedProofs(redisProofs(connection, 'refused'), outage, refusalLifetime)),
    budgets: budgetFallback({ shared: shared.budgets, local: local.budgets, replicas, outage }),
  }
  await outage.start()
  // Who asks nothing has to learn it, too: after a loss nobody relies on a store that may have come back empty.
  connection.onLoss(() => outage.begin())
  return {
    ...counters,
    close() {
      outage.stop()
      connection.close()
    },
  }
}
