/** Outages to rehearse: what goes wrong, for which operation, how often. */
import { z } from 'zod'
import { type Op, ops } from '../domain/operations.ts'
import { numberBetween } from './body.ts'

const longestLatency = 60_000
const isSet = z.literal(true, 'it must be true')
const endings = ['status', 'reset', 'truncation', 'word', 'silence'] as const

/** One outage: a latency in milliseconds, one way to end, or both. */
export const outage = z
  .strictObject({
    operation: z.enum(['all', ...ops], `it must be all or one of ${ops.join(', ')}`).default('all'),
    share: numberBetween(0, 1).default(1),
    latency: numberBetween(0, longestLatency).optional(),
    /** An error status instead of the effect. */
    status: numberBetween(400, 599).refine(Number.isInteger, 'it must be an integer').optional(),
    /** The connection is reset before or after the effect. */
    reset: z.enum(['before', 'after'], 'it must be before or after').optional(),
    /** The answer breaks off half-way, after the effect. */
    truncation: isSet.optional(),
    /** Stands where the status of a transaction stood. */
    word: z.string('it must be a text').optional(),
    /** The effect happens and no answer ever comes. */
    silence: isSet.optional(),
  })
  .refine(({ latency, ...said }) => latency !== undefined || endings.some((ending) => said[ending] !== undefined), {
    error: `it must say latency or one of ${endings.join(', ')}`,
  })
  .refine((said) => endings.filter((ending) => said[ending] !== undefined).length <= 1, {
    error: `it must say only one of ${endings.join(', ')}`,
  })

export type Outage = z.output<typeof outage>

export interface Outages {
  /** Takes the place of what was set for the same operation. */
  readonly set: (outage: Outage) => void
  readonly all: () => readonly Outage[]
  readonly clear: () => void
  /** What befalls this request: an operation's own outage goes before that of all. */
  readonly draw: (op: Op) => Outage | undefined
}

/** `random` gives numbers from 0 to below 1. */
export function outages(random: () => number): Outages {
  const byOperation = new Map<Outage['operation'], Outage>()
  return {
    set: (said) => void byOperation.set(said.operation, said),
    all: () => [...byOperation.values()],
    clear: () => byOperation.clear(),
    draw(op) {
      const said = byOperation.get(op) ?? byOperation.get('all')
      return said && random() < said.share ? said : undefined
    },
  }
}
