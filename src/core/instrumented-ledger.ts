import { DepositInUse, Fault, LedgerBusy, overloaded, QuoteNotHeld, TooManyOpenCreates } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'

const message = 'The service cannot do this at the moment; please try again soon.'
const retryAfter = 5
/** What a ledger says of a create, and is no failure. */
const refusals = [TooManyOpenCreates, QuoteNotHeld, DepositInUse]

/** Wraps a port of the ledger: each call is timed and counted, and each failure becomes `unavailable` (503): no provider may get what cannot be written. */
export function instrumented<Port extends object>(port: Port, observe: Observer): Port {
  const methods = Object.entries(port).map(([action, method]) => {
    const call = method as (...args: readonly unknown[]) => Promise<unknown>
    const instrumentedMethod = (...args: readonly unknown[]): Promise<unknown> => {
      const startedAt = performance.now()
      const end = (isFailure: boolean): void =>
        observe({ what: 'ledger', action, seconds: (performance.now() - startedAt) / 1000, isFailure })
      return call(...args).then(
        (result) => {
          end(false)
          return result
        },
        (cause: unknown) => {
          if (cause instanceof Fault || refusals.some((refusal) => cause instanceof refusal)) {
            end(false)
            throw cause
          }
          end(true)
          if (cause instanceof LedgerBusy) throw overloaded({ effect: 'refused', cause })
          throw ledgerUnavailable(cause)
        },
      )
    }
    return [action, instrumentedMethod] as const
  })
  const instrumentedPort: object = Object.fromEntries(methods)
  return instrumentedPort as Port
}

/** 503: nothing was changed. */
export function ledgerUnavailable(cause?: unknown): Fault {
  return new Fault('unavailable', message, { retryAfter, effect: 'refused', reason: 'ledger_unavailable', cause })
}
