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

const beatMs = 5

/**
 * Milliseconds that it took, with what came of it. Without those in which this process had no processor, since other programs had it:
 * a timer that fires late tells them, less what this process has worked in the meantime.
 */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly tookMs: number; readonly result: T }> {
  const start = performance.now()
  let [last, cpu, withoutMs] = [start, process.cpuUsage(), 0]
  const beat = (): void => {
    const { user, system } = process.cpuUsage(cpu)
    withoutMs += Math.max(0, performance.now() - last - beatMs - (user + system) / 1_000)
    ;[last, cpu] = [performance.now(), process.cpuUsage()]
  }
  const timer = setInterval(beat, beatMs)
  try {
    const result = await work()
    beat()
    return { tookMs: performance.now() - start - withoutMs, result }
  } finally {
    clearInterval(timer)
  }
}

/** The time that so large a part of them does not exceed. */
export function percentile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN
}
