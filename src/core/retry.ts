/** A read that failed is sent once more, where that cannot make things worse (docs/contract.md §8). */
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { type Layer, layer } from './layer.ts'

export interface RetryOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
}

const repeatable: ReadonlySet<FaultKind> = new Set<FaultKind>(['unreachable', 'unreadable', 'failed'])
/** The second try comes after at most so many milliseconds, by chance: Envoy's figure. */
const longestPause = 25

/** A create is never sent twice; nor is what the provider refused, nor what nobody has time or retries left for. */
export function retry({ provider, clock, random, observe }: RetryOptions): Layer {
  const allowance = new Allowance(clock)
  const mayRepeat = ({ kind, certain }: Fault, wait: number, deadline: number): boolean => {
    const isRefusal = certain && kind !== 'unreachable'
    if (!repeatable.has(kind) || isRefusal || performance.now() + wait >= deadline) return false
    const isMade = allowance.take()
    observe({ what: 'retry', provider, isMade })
    return isMade
  }
  return layer((op, request, context, next) => {
    if (op === 'createTransaction') return next.call(op, request, context)
    allowance.count()
    return next.call(op, request, context).catch(async (reason) => {
      const wait = longestPause * random()
      if (!mayRepeat(Fault.from(reason), wait, context.deadline)) throw reason
      await new Promise((resolve) => setTimeout(resolve, wait))
      return next.call(op, request, { ...context, resends: 1 }).catch((again) => {
        throw Fault.from(again).elsewhere ? reason : again
      })
    })
  })
}

const seconds = 10
const share = 0.2

/** So many retries as a share of the last ten seconds' calls allows, and always one in a second. */
class Allowance {
  private readonly clock: () => number
  private readonly calls = new Float64Array(seconds)
  private readonly retries = new Float64Array(seconds)
  private second = 0

  constructor(clock: () => number) {
    this.clock = clock
  }

  count(): void {
    const at = this.turn()
    this.calls[at] = (this.calls[at] as number) + 1
  }

  take(): boolean {
    const at = this.turn()
    const made = this.retries[at] as number
    if (made > 0 && sum(this.retries) + 1 > share * sum(this.calls)) return false
    this.retries[at] = made + 1
    return true
  }

  /** The place of this second; those that passed since the last call are empty. */
  private turn(): number {
    const now = Math.floor(this.clock() / 1000)
    for (let passed = Math.max(this.second + 1, now - seconds + 1); passed <= now; passed++) {
      this.calls[passed % seconds] = 0
      this.retries[passed % seconds] = 0
    }
    this.second = now
    return now % seconds
  }
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0)
}
