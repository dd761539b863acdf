import { Fault } from '../../domain/faults/fault.ts'
import type { Caller } from '../../domain/swap/service.ts'
import type { Observer } from '../../domain/telemetry/observation.ts'
import type { Clock } from '../clock.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Ledger } from '../ledger.ts'

export interface IntentOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  readonly clock: Clock
  readonly observe: Observer
  /** Keeps the key of a caller whose create ended unknown, where it is to be looked for with his key. */
  readonly pendingKeys?: { readonly keep: (caller: Caller) => void } | undefined
}

/** How long after its last moment a create may still be settled by the process that sent it, in milliseconds. */
const marginMs = 5_000
/** When an unknown outcome is looked for first, in milliseconds. */
const firstCheckMs = 5_000

/**
 * A create is in the ledger before its first byte goes up (docs/contract.md §10). What certainly created nothing leaves it
 * again; what nobody knows stays, to be looked for.
 */
export function intent({ ledger, provider, clock, observe, pendingKeys }: IntentOptions): Layer {
  return onOperations({
    async createTransaction(request, context, next) {
      const { attempt: id, caller, claim, pair, span } = context
      if (id === undefined || caller.identity === undefined) throw new Fault('internal', 'A create was made by nobody.')
      const attemptedAt = clock()
      const nextCheckAt = attemptedAt + Math.ceil(context.deadline - performance.now()) + marginMs
      const requested = { ...request, ...pair }
      const traceparent = span?.trace.root?.traceparent
      const isBegun = await ledger.begin({
        id,
        owner: caller.identity,
        provider,
        requested,
        claim,
        attemptedAt,
        nextCheckAt,
        traceparent,
      })
      if (!isBegun) throw inProgress()
      try {
        const response = await next.call('createTransaction', request, context)
        span?.setAttributes({ 'swapgate.outcome': 'done' })
        return response
      } catch (reason) {
        const fault = Fault.from(reason)
        span?.setAttributes({ 'swapgate.outcome': fault.noEffect ? 'refused' : 'unknown' })
        // Where the ledger cannot take this note, the intent is looked for at its time, as after a crash.
        if (fault.noEffect) await ledger.drop(id).catch(() => {})
        else {
          observe({ what: 'create', provider, outcome: 'unknown' })
          pendingKeys?.keep(caller)
          await ledger.markUnknown(id, clock() + firstCheckMs).catch(() => {})
        }
        throw fault
      }
    },
  })
}

/** Also the answer to whoever comes while nobody knows how the first request ended. */
export function inProgress(): Fault {
  const message = 'A request with this Idempotency-Key has no known outcome yet; please ask again later with the same key.'
  return new Fault('inProgress', message, { noEffect: true })
}
