/** All requests of clients and their responses, in the order in which they began. */
import type { ReceivedResponse } from '../support/client.ts'
import { Customer } from './customer.ts'
import type { Order } from './order.ts'
import { type ResponseTransaction, transactionsIn } from './response-transaction.ts'

export interface Operation {
  /** The caller: the account, or in passthrough mode the holder of the key. */
  readonly client: string
  readonly kind: 'create' | 'get' | 'list'
  readonly input: string
  readonly order?: Order
  readonly idempotencyKey?: string
  /** What distinguishes this create at a provider; if unknown, its withdrawal address does. */
  readonly mark?: string
  /** Its `X-Request-Id`, which is sent to the provider. */
  request?: string
  /** `fail`: it certainly had no effect. `info`: unknown, also if no response ever came. */
  outcome: 'ok' | 'fail' | 'info'
  /** Of the response, like `text`; absent without a response. */
  status?: number
  text?: string
  transactions: readonly ResponseTransaction[]
}

/** Responses that leave open whether a create took effect. */
const openEndings: readonly number[] = [500, 502, 504]

export class History {
  readonly operations: Operation[] = []

  /** A client whose every request is recorded. */
  client(name: string, key: string, form: 'A' | 'B'): Customer {
    return new Customer(this, name, key, form)
  }

  /** The response; undefined if there was none. */
  async record(
    invoked: Omit<Operation, 'outcome' | 'transactions'>,
    send: () => Promise<ReceivedResponse>,
  ): Promise<ReceivedResponse | undefined> {
    const operation: Operation = { ...invoked, outcome: 'info', transactions: [] }
    this.operations.push(operation)
    const response = await send().catch(() => undefined)
    if (!response) return undefined
    const { status, text, headers } = response
    const outcome = status < 300 ? 'ok' : openEndings.includes(status) ? 'info' : 'fail'
    Object.assign(operation, { outcome, status, text, request: headers['x-request-id'], transactions: transactionsIn(text) })
    return response
  }
}
