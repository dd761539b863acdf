/** The stores of limits, verified keys, budgets and places of streams: in Redis if it is configured, otherwise in this process. */
import { memoryBudgets, memoryLimiter, memoryVerifiedKeys, memoryWinners } from '../adapters/memory.ts'
import type { Config } from '../config/index.ts'
import { type Limiter, limitFallback } from '../core/access/limits.ts'
import { RunningProcesses } from '../core/access/running-processes.ts'
import { StoreOutage, sharedVerifiedKeys } from '../core/access/store-outage.ts'
import { SharedStreamPlaces, streamLeaseMs } from '../core/access/stream-places.ts'
import {
  type RefusedAddresses,
  refusalLifetimeMs,
  refusedAddresses,
  type VerifiedKeys,
  verifiedKeyLifetimeMs,
} from '../core/access/verified-keys.ts'
import { type StreamPlaces, unsharedPlaces } from '../core/events/event-hub.ts'
import { type Budgets, budgetFallback } from '../core/resilience/budget-limit.ts'
import { sharedWinners, type WinnerStore, winnerLifetimeMs } from '../core/routing/winners.ts'
import type { Observer, StoreState } from '../domain/observation.ts'
import { freshLookup } from './name-lookup.ts'
import { reportTrouble } from './store-trouble.ts'

export interface LimitStores {
  readonly limiter: Limiter
  readonly verifiedKeys: VerifiedKeys
  readonly refusedAddresses: RefusedAddresses
  readonly budgets: Budgets
  readonly winners: WinnerStore
  readonly streamPlaces: StreamPlaces
  /** Undefined if Redis is not configured. */
  readonly redis: () => RedisState | undefined
  /** So many processes have written figures in the last 30 s, this one too. */
  readonly seeProcesses: (count: number) => void
  readonly close: () => void
}

/** As this process sees Redis. */
export interface RedisState {
  readonly state: StoreState
  /** Milliseconds since it was lost; undefined while it is there. */
  readonly lostForMs?: number | undefined
}

const clock = (): number => performance.now()

/** Those of another process: of the primary, for its workers. */
export function remoteLimitStores(call: (name: string, ...values: readonly unknown[]) => Promise<unknown>): LimitStores {
  const remote =
    (name: string) =>
    (...values: readonly unknown[]): Promise<never> =>
      call(name, ...values) as Promise<never>
  // The process ends with the primary.
  const quiet =
    (name: string) =>
    (value: string): Promise<void> =>
      remote(name)(value).catch(() => {})
  return {
    limiter: { consume: remote('consume') },
    verifiedKeys: { has: remote('isVerified'), add: quiet('verify') },
    refusedAddresses: { has: remote('isRefused'), add: quiet('refuse') },
    budgets: { reserve: remote('reserve') },
    winners: { save: remote('saveWinner'), find: remote('findWinner') },
    streamPlaces: unsharedPlaces,
    redis: () => undefined,
    seeProcesses() {},
    close() {},
  }
}

/**
 * If Redis is down, opens after a second and counts in this process until Redis is available, its share among the processes that run.
 * `processes`: of one gateway of the configuration.
 */
export async function openLimitStores(
  { redis, replicas, ledger }: Pick<Config, 'redis' | 'replicas'> & { readonly ledger: Pick<Config['ledger'], 'url'> },
  observe: Observer,
  ownProcesses = 1,
): Promise<LimitStores> {
  const local = { limiter: memoryLimiter(), budgets: memoryBudgets(clock), winners: memoryWinners(clock, winnerLifetimeMs) }
  if (redis.url === '') {
    const refused = refusedAddresses(memoryVerifiedKeys(refusalLifetimeMs))
    return {
      ...local,
      verifiedKeys: memoryVerifiedKeys(verifiedKeyLifetimeMs),
      refusedAddresses: refused,
      streamPlaces: unsharedPlaces,
      redis: () => undefined,
      seeProcesses() {},
      close() {},
    }
  }
  // Loaded only if Redis is configured.
  const [{ openRedis }, { redisLimiter, redisVerifiedKeys, redisBudgets, redisWinners, redisStreamLeases }] = await Promise.all([
    import('../adapters/redis/index.ts'),
    import('../adapters/redis/stores.ts'),
  ])
  const connection = await openRedis(redis.url, redis.prefix, freshLookup, reportTrouble('redis', observe))
  const outage = new StoreOutage(connection.dataId, observe)
  const processes = new RunningProcesses({
    configured: replicas * ownProcesses,
    lostAt: () => outage.since,
    clock,
    // A file that no other process uses may be one of several, on several machines.
    ...(ledger.url.startsWith('sqlite:') && { mayMissOthers: { ownProcesses } }),
  })
  const shared = { limiter: redisLimiter(connection), budgets: redisBudgets(connection) }
  const streamPlaces = new SharedStreamPlaces(redisStreamLeases(connection, streamLeaseMs), outage)
  const stores = {
    limiter: limitFallback({ shared: shared.limiter, local: local.limiter, processes, outage, observe }),
    verifiedKeys: sharedVerifiedKeys(redisVerifiedKeys(connection, 'verified'), outage),
    refusedAddresses: refusedAddresses(sharedVerifiedKeys(redisVerifiedKeys(connection, 'refused'), outage, refusalLifetimeMs)),
    budgets: budgetFallback({ shared: shared.budgets, local: local.budgets, processes, outage, observe }),
    winners: sharedWinners({ shared: redisWinners(connection, winnerLifetimeMs), local: local.winners, outage }),
  }
  await outage.start()
  // An idle process must notice a loss, too: the store may come back empty.
  connection.onLoss(() => outage.begin())
  return {
    ...stores,
    streamPlaces,
    redis: () => ({ state: outage.state, ...(outage.state !== 'shared' && { lostForMs: performance.now() - outage.since }) }),
    seeProcesses: (count) => processes.see(count),
    close() {
      streamPlaces.stop()
      outage.stop()
      connection.close()
    },
  }
}
