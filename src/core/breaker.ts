/** Leaves a provider alone that fails for everybody, and holds back one whose calls alone fail (docs/contract.md §8). */
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { type Context, keyed, type Op, ops, type SwapService } from '../domain/operations.ts'
import { askerOf, callerOf } from './asker.ts'
import { holdBack } from './busy.ts'
import { type Ending, endingOf } from './ending.ts'
import { type Layer, layer } from './layer.ts'
import { type Asker, OperationBreaker } from './operation-breaker.ts'
import { type OwnRead, OwnReads, ownRead } from './own-read.ts'

export interface BreakingOptions {
  /** Tag of the provider. */
  readonly provider: string
  /** The provider's, in milliseconds. */
  readonly timeout: number
  /** Whether what needs a key goes up with the gateway's own. */
  readonly isOwnKey: boolean
  /** Milliseconds, on a clock that is never set back. */
  readonly clock: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly observe: Observer
}

export interface Breaking {
  /** Refuses with `unavailable`, for certain. Stands before everything that costs. */
  readonly admission: Layer
  /** Counts. Stands before the provider alone: what is held back on the way tells nothing of it. */
  readonly count: Layer
}

export type MakeBreaker = (options: BreakingOptions) => Breaking

/** Silence counts where a call had so much of the time-out: a quote that waits for a list and may go elsewhere has a quarter. */
const fairShare = 0.2

/** Each operation has a breaker of its own. Once it has rested, one call of a client finds out; a create only by a create. */
export function breaking(options: BreakingOptions): Breaking {
  const breakers = new ProviderBreakers(options)
  return {
    admission: (next) => {
      breakers.service = next
      return layer((op, request, context) => {
        const refusal = breakers.refusalOf(op, context)
        return refusal ? Promise.reject(refusal) : next.call(op, request, context)
      })(next)
    },
    count: layer((op, request, context, next) => {
      const refusal = breakers.refusalOf(op, context)
      if (refusal) return Promise.reject(refusal)
      const end = breakers.begin(op, context)
      return next.call(op, request, context).then(
        (answer) => {
          end()
          return answer
        },
        (reason) => {
          end(Fault.from(reason))
          throw reason
        },
      )
    }),
  }
}

class ProviderBreakers {
  /** By which the gateway reads itself, paid for like any call. */
  service: SwapService | undefined
  private readonly options: BreakingOptions
  private readonly byOp: Readonly<Record<Op, OperationBreaker>>
  private readonly refuse: Readonly<Record<'breaker' | 'caller', (wait: number) => Fault>>
  private readonly ownReads: OwnReads

  constructor(options: BreakingOptions) {
    const { provider, clock, random, observe } = options
    const breakerOf = (operation: Op): OperationBreaker =>
      new OperationBreaker({ clock, random, onState: (state) => observe({ what: 'breaker', provider, operation, state }) })
    this.options = options
    this.byOp = Object.fromEntries(ops.map((op) => [op, breakerOf(op)])) as Record<Op, OperationBreaker>
    this.refuse = { breaker: holdBack(provider, 'breaker', observe), caller: holdBack(provider, 'caller', observe) }
    this.ownReads = new OwnReads(clock)
    for (const operation of ops) observe({ what: 'breaker', provider, operation, state: 'closed' })
  }

  refusalOf(op: Op, context: Context): Fault | undefined {
    const breaker = this.byOp[op]
    if (breaker.isQuiet) return undefined
    const wait = breaker.waitOf(this.asker(op, context))
    return wait && this.refuse[wait.by](wait.time)
  }

  /** Counts a call that is not refused; to be called once more when it has ended. */
  begin(op: Op, context: Context): (fault?: Fault) => void {
    const breaker = this.byOp[op]
    const isProbe = breaker.circuit.begin()
    const hadTime = isProbe || context.deadline - performance.now() >= this.options.timeout * fairShare
    return (fault) => {
      const asker = this.asker(op, context)
      const ending: Ending = fault ? endingOf(fault, hadTime) : 'answered'
      if (isProbe) breaker.endProbe(asker, ending)
      else if (breaker.end(asker, ending, context.resends !== undefined) && asker) void this.findOut(op, asker, context)
    }
  }

  /** Whether the provider fails, or only what this one asks. */
  private async findOut(op: Op, { caller }: Asker, { client }: Context): Promise<void> {
    const { service, byOp, options } = this
    if (!service) return
    const own: OwnRead = options.isOwnKey && keyed.has(op) ? 'listTransactions' : 'listCurrencies'
    const isLeftAlone = byOp[own].circuit.state !== 'closed'
    const fails = isLeftAlone || (await this.ownReads.fails(own, (read) => ownRead(read, service, client, options.timeout)))
    if (!fails) byOp[op].hold(caller)
    else if (byOp[op].circuit.state === 'closed') byOp[op].open()
  }

  private asker(op: Op, { caller, isOwn }: Context): Asker | undefined {
    if (isOwn) return undefined
    const { isOwnKey } = this.options
    return { name: askerOf(op, caller, isOwnKey), caller: callerOf(op, caller, isOwnKey) }
  }
}
