import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import type { Caller } from '../domain/operations.ts'
import { type Layer, on } from './layer.ts'
import type { Ledger } from './ledger.ts'

/** Milliseconds since 1970. */
export type Clock = () => number

export interface IntentOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  readonly clock: Clock
  readonly observe: Observer
  /** Keeps the key of a caller whose create ended unknown, where it is to be looked for with his key. */
  readonly keys?: { readonly hold: (caller: Caller) => void } | undefined
}

/** How long after its last moment a create may still be settled by the process that sent it, in milliseconds. */
const margin = 5_000
/** When an unknown outcome is looked for first, in milliseconds. */
const firstLook = 5_000

/**
 * A create is in the ledger before its first byte goes up (docs/contract.md §10). What certainly created nothing leaves it
 * again; what nobody knows stays, to be looked for.
 */
export function intent({ ledger, provider, clock, observe, keys }: IntentOptions): Layer {
  return on({
    async createTransaction(request, context, next) {
      const { attempt: id, caller, claim, pair, span } = context
      if (id === undefined || caller.identity === undefined) throw new Fault('internal', 'A create was made by nobody.')
      const attemptedAt = clock()
      const lookAt = attemptedAt + Math.ceil(context.deadline - performance.now()) + margin
      const asked = { ...request, ...pair }
      const traceparent = span?.trace.root.traceparent
      const isBegun = await ledger.begin({ id, owner: caller.identity, provider, asked, claim, attemptedAt, lookAt, traceparent })
      if (!isBegun) throw inProgress()
      try {
        const answer = await next.call('createTransaction', request, context)
        span?.tell({ 'swapgate.outcome': 'done' })
        return answer
      } catch (reason) {
        const fault = Fault.from(reason)
        span?.tell({ 'swapgate.outcome': fault.certain ? 'refused' : 'unknown' })
        // Where the ledger cannot take this note, the intent is looked for at its time, as after a crash.
        if (fault.certain) await ledger.drop(id).catch(() => {})
        else {
          observe({ what: 'create', provider, outcome: 'unknown' })
          keys?.hold(caller)
          await ledger.doubt(id, clock() + firstLook).catch(() => {})
        }
        throw fault
      }
    },
  })
}

/** Also the answer to whoever comes while nobody knows how the first request ended. */
export function inProgress(): Fault {
  const message = 'A request with this Idempotency-Key has no known outcome yet; please ask again later with the same key.'
  return new Fault('inProgress', message, { certain: true })
}
