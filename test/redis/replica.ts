/** The limit stores of one replica, with a real Redis. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Observation } from '../../src/domain/observation.ts'
import { type LimitStores, openLimitStores } from '../../src/process/limit-stores.ts'

export interface Replica extends LimitStores {
  readonly observations: readonly Observation[]
  /** Resolves once it counts there; throws after 15 seconds. */
  readonly turned: (state: 'shared' | 'local') => Promise<void>
}

export async function startReplica(url: string, replicas: number, prefix = 'swapgate'): Promise<Replica> {
  const observations: Observation[] = []
  const limitStores = await openLimitStores(
    { redis: { url, prefix }, replicas, ledger: { url: 'postgres://host/ledger' } },
    (observation) => void observations.push(observation),
  )
  const state = (): string => observations.findLast((observation) => observation.what === 'limitStore')?.state ?? 'shared'
  return {
    ...limitStores,
    observations,
    async turned(wanted) {
      for (const deadline = Date.now() + 15_000; Date.now() < deadline; await delay(20)) if (state() === wanted) return
      throw new Error(`the replica is ${state()}, not ${wanted}`)
    },
  }
}

/** Milliseconds that it took, with what came of it. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly tookMs: number; readonly result: T }> {
  const start = performance.now()
  const result = await work()
  return { tookMs: performance.now() - start, result }
}

/** The time that so large a part of them does not exceed. */
export function percentile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN
}
