import { setTimeout as delay } from 'node:timers/promises'
import type { World } from './world.ts'

/** A failure, and what dashboards and alerts must show of it. */
export interface Event {
  readonly name: string
  /** These fire because of it, and did not before. */
  readonly alerts?: readonly string[]
  /** These had nothing to show before. */
  readonly panels?: readonly string[]
  /** Makes it happen; what it returns ends it. */
  readonly cause: (world: World) => Promise<Lift>
}

export type Lift = () => Promise<unknown>

/** It is over by itself. */
export const nothing: Lift = async () => {}

/** At the same time. */
export function together(count: number, work: () => Promise<unknown>): Promise<unknown> {
  return Promise.allSettled(Array.from({ length: count }, work))
}

/** Again and again until it is lifted. */
export function repeating(pause: number, work: () => Promise<unknown>): Lift {
  let isOver = false
  const run = async (): Promise<void> => {
    while (!isOver) {
      await work().catch(() => undefined)
      await delay(pause)
    }
  }
  const done = run()
  return async () => {
    isOver = true
    await done
  }
}
