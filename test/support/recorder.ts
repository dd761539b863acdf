/** Records what a stand-in received, did and returned, in the terms of the checker, for any configured reply. */
import type * as faults from '../checker/order.ts'
import type { Journal } from '../checker/provider/journal.ts'
import { transactionsInAny } from '../checker/response-transaction.ts'
import { keyIn } from './invocation.ts'
import { readOrder } from './requested-order.ts'
import type { Received, Reply, Watch } from './stand-in.ts'
import type { Holdings, Swap } from './swaps.ts'

const recordedOperations: readonly string[] = ['create', 'get', 'list']
/** Over all stand-ins, since one may continue the work of another. */
let requests = 0

export class Recorder {
  private readonly holdings: Holdings
  private entries: Journal[number][] = []
  private noticed = new Set<Swap>()

  constructor(holdings: Holdings) {
    this.holdings = holdings
  }

  journal(): Journal {
    this.notice()
    return this.entries
  }

  /** Begins anew: the swaps that exist now count as earlier ones. */
  forget(): void {
    this.entries = []
    this.noticed = new Set()
  }

  readonly watch: Watch = (received, respond) => {
    this.notice()
    const request = ++requests
    const { operation, headers, body, rawQuery } = received
    const path = rawQuery === '' ? received.path : `${received.path}?${rawQuery}`
    this.entries.push({ what: 'received', at: Date.now(), request, operation, path, headers, body })
    const before = new Set(this.holdings.swaps.map(({ id }) => id))
    const reply = respond()
    const text = recordedOperations.includes(operation) ? textOf(reply) : undefined
    const made = operation === 'create' ? this.madeFrom(received, reply, before, text) : []
    const key = keyIn({ path, headers })
    for (const swap of made) this.entries.push({ what: 'applied', request, key, swap })
    this.entries.push({ what: 'responded', request, ending: endingOf(reply), ...(text !== undefined && { text }) })
    return reply
  }

  /** Records the swaps that a test added or changed since the last call. */
  private notice(): void {
    for (const swap of this.holdings.swaps) {
      if (this.noticed.has(swap)) continue
      this.noticed.add(swap)
      this.entries.push({ what: 'held', swap: toSwap(swap) })
    }
  }

  /**
   * The new swaps of the holdings; without one, the swap in the response. If the response contradicts the request, the
   * requested swap was made.
   */
  private madeFrom({ body }: Received, reply: Reply, before: ReadonlySet<string>, text = ''): readonly faults.Swap[] {
    const order = readOrder(body)
    const made = this.holdings.swaps.filter((swap) => !this.noticed.has(swap) && !before.has(swap.id))
    for (const swap of made) this.noticed.add(swap)
    if (made.length > 0) return made.map((swap) => ({ ...extraIdsOf(order), ...toSwap(swap) }))
    const [created] = endingOf(reply) === 'reset' || (reply.status ?? 200) >= 300 ? [] : transactionsInAny(text)
    if (!created || !order) return []
    const { id, depositAddress = '', depositExtraId } = created
    const { wanted: amountTo = created.amountTo ?? '' } = order
    const amount = order.wanted === undefined ? order.amount : (created.amount ?? '0')
    const extra = depositExtraId === undefined ? {} : { depositExtraId }
    return [{ ...order, amount, id, status: 'wait', amountTo, depositAddress, ...extra, createdAt: '', updatedAt: '' }]
  }
}

function endingOf({ reset, status = 200 }: Reply): number | 'reset' {
  return reset ? 'reset' : status
}

function textOf({ json, text = JSON.stringify(json) ?? '' }: Reply): string {
  return typeof text === 'string' ? text : Buffer.from(text).toString()
}

function extraIdsOf({ withdrawalExtraId, refundExtraId }: Partial<faults.Order> = {}): object {
  return { ...(withdrawalExtraId && { withdrawalExtraId }), ...(refundExtraId && { refundExtraId }) }
}

function toSwap({ amountIn, amountOut, refundAddress, rate: _, ...facts }: Swap): faults.Swap {
  const refund = refundAddress === null ? {} : { refundAddress }
  return { ...facts, ...refund, amount: amountIn.rawJSON, amountTo: amountOut.rawJSON }
}
