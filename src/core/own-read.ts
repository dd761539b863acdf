import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import { endingOf } from './ending.ts'

/** Which harmless read tells how a provider is: with the gateway's own key, or without any. */
export type OwnRead = 'listTransactions' | 'listCurrencies'

/** Of the gateway's own accord, for no client. `timeout` in milliseconds. */
export function ownRead(op: OwnRead, service: SwapService, client: Context['client'], timeout: number): Promise<unknown> {
  const deadline = performance.now() + timeout
  const context = { requestId: crypto.randomUUID(), caller: { address: '' }, client, deadline, isOwn: true }
  return service.call(op, { page: 1, size: 1 }, context)
}

/** For so many milliseconds an answer to such a read shows that the provider is well. */
const trust = 10_000

/** Whether the gateway's own reads fail. One read serves all who want to know. */
export class OwnReads {
  private readonly clock: () => number
  private readonly answeredAt: Partial<Record<OwnRead, number>> = {}
  private readonly underWay: Partial<Record<OwnRead, Promise<boolean>>> = {}

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** What tells nothing, such as a budget that is used up, is no failure. */
  fails(op: OwnRead, read: (op: OwnRead) => Promise<unknown>): Promise<boolean> {
    if (this.clock() - (this.answeredAt[op] ?? Number.NEGATIVE_INFINITY) < trust) return Promise.resolve(false)
    this.underWay[op] ??= this.make(op, read)
    return this.underWay[op]
  }

  private async make(op: OwnRead, read: (op: OwnRead) => Promise<unknown>): Promise<boolean> {
    try {
      await read(op)
      this.answeredAt[op] = this.clock()
      return false
    } catch (reason) {
      const ending = endingOf(Fault.from(reason), true)
      return ending === 'failed' || ending === 'unconnected'
    } finally {
      delete this.underWay[op]
    }
  }
}
