import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import { singleFlight } from '../domain/single-flight.ts'
import { endingOf } from './ending.ts'

/** Which harmless read tells how a provider is: with the gateway's own key, or without any. */
export type OwnRead = 'listTransactions' | 'listCurrencies'

/** Of the gateway's own accord, for no client. `timeout` in milliseconds. */
export function ownRead(op: OwnRead, service: SwapService, client: Context['client'], timeout: number): Promise<unknown> {
  const deadline = performance.now() + timeout
  const context = { requestId: crypto.randomUUID(), caller: { address: '' }, client, deadline, isOwn: true }
  return service.call(op, { page: 1, size: 1 }, context)
}

type Read = (op: OwnRead) => Promise<unknown>

/** For so many milliseconds an answer to such a read shows that the provider is well. */
const trust = 10_000

/** Whether the gateway's own reads fail. One read serves all who want to know. */
export class OwnReads {
  private readonly clock: () => number
  private readonly answeredAt: Partial<Record<OwnRead, number>> = {}
  private readonly flights = {
    listTransactions: singleFlight((read: Read) => this.make('listTransactions', read)),
    listCurrencies: singleFlight((read: Read) => this.make('listCurrencies', read)),
  }

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** What tells nothing, such as a budget that is used up, is no failure. */
  fails(op: OwnRead, read: Read): Promise<boolean> {
    if (this.clock() - (this.answeredAt[op] ?? Number.NEGATIVE_INFINITY) < trust) return Promise.resolve(false)
    return this.flights[op].run(read)
  }

  private async make(op: OwnRead, read: Read): Promise<boolean> {
    try {
      await read(op)
      this.answeredAt[op] = this.clock()
      return false
    } catch (reason) {
      const ending = endingOf(Fault.from(reason), true)
      return ending === 'failed' || ending === 'unconnected'
    }
  }
}
