/** Outages to rehearse: what goes wrong, for which operation, how often. */
import { z } from 'zod'
import { type Op, ops } from '../../domain/service.ts'
import { numberBetween } from '../request-body.ts'

const maxLatencyMs = 60_000
const isSet = z.literal(true, 'it must be true')
const effects = ['status', 'reset', 'truncation', 'word', 'silence'] as const

/** One outage: a latency in milliseconds, one way to end, or both. */
export const injectedFault = z
  .strictObject({
    operation: z.enum(['all', ...ops], `it must be all or one of ${ops.join(', ')}`).default('all'),
    share: numberBetween(0, 1).default(1),
    latency: numberBetween(0, maxLatencyMs).optional(),
    /** An error status instead of the effect. */
    status: numberBetween(400, 599).refine(Number.isInteger, 'it must be an integer').optional(),
    /** The connection is reset before or after the effect. */
    reset: z.enum(['before', 'after'], 'it must be before or after').optional(),
    /** The response breaks off half-way, after the effect. */
    truncation: isSet.optional(),
    /** Stands where the status of a transaction stood. */
    word: z.string('it must be a text').optional(),
    /** The effect happens and no response ever comes. */
    silence: isSet.optional(),
  })
  .refine(({ latency, ...fault }) => latency !== undefined || effects.some((effect) => fault[effect] !== undefined), {
    error: `it must say latency or one of ${effects.join(', ')}`,
  })
  .refine((fault) => effects.filter((effect) => fault[effect] !== undefined).length <= 1, {
    error: `it must say only one of ${effects.join(', ')}`,
  })

export type InjectedFault = z.output<typeof injectedFault>

export interface FaultInjector {
  /** Takes the place of what was set for the same operation. */
  readonly set: (injectedFault: InjectedFault) => void
  readonly all: () => readonly InjectedFault[]
  readonly clear: () => void
  /** What befalls this request: an operation's own outage goes before that of all. */
  readonly draw: (op: Op) => InjectedFault | undefined
}

/** `random` gives numbers from 0 to below 1. */
export function faultInjector(random: () => number): FaultInjector {
  const byOperation = new Map<InjectedFault['operation'], InjectedFault>()
  return {
    set: (fault) => void byOperation.set(fault.operation, fault),
    all: () => [...byOperation.values()],
    clear: () => byOperation.clear(),
    draw(op) {
      const fault = byOperation.get(op) ?? byOperation.get('all')
      return fault && random() < fault.share ? fault : undefined
    },
  }
}
