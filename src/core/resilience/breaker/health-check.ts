import { Fault } from '../../../domain/faults/fault.ts'
import { singleFlight } from '../../../domain/single-flight.ts'
import type { Context, SwapService } from '../../../domain/swap/service.ts'
import { callResultOf } from './call-result.ts'

/** Which harmless read tells how a provider is: with the gateway's own key, or without any. */
export type HealthCheckOp = 'listTransactions' | 'listCurrencies'

/** Of the gateway's own accord, for no client. `timeout` in milliseconds. */
export function healthCheck(
  op: HealthCheckOp,
  service: SwapService,
  clientCapabilities: Context['clientCapabilities'],
  timeoutMs: number,
): Promise<unknown> {
  const deadline = performance.now() + timeoutMs
  const context = { requestId: crypto.randomUUID(), caller: { address: '' }, clientCapabilities, deadline, isGatewayCall: true }
  return service.call(op, { page: 1, size: 1 }, context)
}

type Read = (op: HealthCheckOp) => Promise<unknown>

/** For so many milliseconds an answer to such a read shows that the provider is well. */
const trustMs = 10_000

/** Whether the gateway's own reads fail. One read serves all who want to know. */
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

  /** What tells nothing, such as a budget that is used up, is no failure. */
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
