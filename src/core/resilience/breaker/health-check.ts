import { Fault } from '../../../domain/faults/fault.ts'
import { singleFlight } from '../../../domain/single-flight.ts'
import type { Op, Request } from '../../../domain/swap/operations.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import { callResultOf } from './call-result.ts'

/** The read that is used as a health check: with the gateway's own key, or without a key. */
export type HealthCheckOp = 'listTransactions' | 'listCurrencies'

/** How the health of a provider is checked. */
export interface HealthCheckOptions {
  /** `providers.<name>.timeout` (default: 10 seconds). */
  readonly timeoutMs: number
  /** Whether keyed operations are sent with the gateway's own key, as in managed mode. */
  readonly usesGatewayKey: boolean
  /** The provider's read with the gateway's key, or, if it has none, without one. Default: `listTransactions`. */
  readonly keyedRead?: HealthCheckOp | undefined
}

/** Reads from the provider as a health check. Rejects with the provider's `Fault`. A row that is not of the form is no failure: it may be a client's. */
export function healthCheck(
  op: HealthCheckOp,
  service: SwapService,
  clientCapabilities: Context['clientCapabilities'],
  timeoutMs: number,
): Promise<unknown> {
  return gatewayCall(op, { page: 1, size: 1 }, service, clientCapabilities, timeoutMs)
}

/** Calls the provider without a client. Rejects with the provider's `Fault`. */
export function gatewayCall<O extends Op>(
  op: O,
  request: Request<O>,
  service: SwapService,
  clientCapabilities: Context['clientCapabilities'],
  timeoutMs: number,
): Promise<unknown> {
  const deadline = performance.now() + timeoutMs
  const context = {
    ...{ requestId: crypto.randomUUID(), caller: { address: '' }, clientCapabilities, deadline, isGatewayCall: true },
    acceptsUnreadableRows: op === 'listTransactions',
  }
  return service.call(op, request, context)
}

type Read = (op: HealthCheckOp) => Promise<unknown>

/** After a successful health check the provider counts as healthy for this time. */
const trustMs = 10_000

/** Health checks of one provider. Concurrent callers share one. */
export class HealthChecks {
  private readonly clock: () => number
  private readonly respondedAt: Partial<Record<HealthCheckOp, number>> = {}
  private readonly flights = {
    listTransactions: singleFlight((read: Read) => this.run('listTransactions', read)),
    listCurrencies: singleFlight((read: Read) => this.run('listCurrencies', read)),
  }

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** Returns whether the health check fails. A result that is no sign of health, such as an exhausted budget, is no failure. */
  fails(op: HealthCheckOp, read: Read): Promise<boolean> {
    if (this.clock() - (this.respondedAt[op] ?? Number.NEGATIVE_INFINITY) < trustMs) return Promise.resolve(false)
    return this.flights[op].run(read)
  }

  private async run(op: HealthCheckOp, read: Read): Promise<boolean> {
    try {
      await read(op)
      this.respondedAt[op] = this.clock()
      return false
    } catch (reason) {
      const result = callResultOf(Fault.from(reason), true)
      return result === 'failed' || result === 'unconnected'
    }
  }
}
