/** A client of the gateway, as an integrator writes one from `docs/service.md`; every request is recorded. */
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { digits } from '../support/json.ts'
import type { AssetWords } from '../support/swaps.ts'
import type { History } from './history.ts'
import type { Order } from './order.ts'

interface Options {
  readonly idempotencyKey?: string
}

export class Customer {
  readonly name: string
  readonly key: string
  readonly form: 'A' | 'B'
  private readonly history: History

  constructor(history: History, name: string, key: string, form: 'A' | 'B') {
    this.history = history
    this.name = name
    this.key = key
    this.form = form
  }

  /** `gateway` is its URL without a mount, here and below. */
  create(gateway: string, order: Order, { idempotencyKey }: Options = {}): Promise<ReceivedResponse | undefined> {
    const { from, to, amount, ...rest } = order
    const body = JSON.stringify({ ...pairWords(this.form, { from, to }), amount: digits(amount), ...rest })
    const keyOption = idempotencyKey === undefined ? {} : { idempotencyKey }
    const headers = { 'content-type': 'application/json', ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) }
    return this.history.record({ client: this.name, kind: 'create', input: body, order, ...keyOption }, () =>
      this.send(gateway, 'POST', '/transactions', headers, body),
    )
  }

  get(gateway: string, id: string): Promise<ReceivedResponse | undefined> {
    const path = `/transactions/${encodeURIComponent(id)}`
    return this.history.record({ client: this.name, kind: 'get', input: id }, () => this.send(gateway, 'GET', path))
  }

  list(gateway: string, page = 1, size = 100): Promise<ReceivedResponse | undefined> {
    const path = `/transactions?page=${page}&size=${size}`
    return this.history.record({ client: this.name, kind: 'list', input: path }, () => this.send(gateway, 'GET', path))
  }

  private send(
    gateway: string,
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<ReceivedResponse> {
    return sendRequest(gateway, {
      method,
      path: `/${this.form.toLowerCase()}/api/v2${path}`,
      headers: { ...credential(this.form, this.key), ...headers },
      ...(body !== undefined && { body }),
    })
  }
}

export function credential(form: 'A' | 'B', key: string): Record<string, string> {
  return form === 'A' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }
}

/** The names of the two assets in a request. */
export function pairWords(form: 'A' | 'B', { from, to }: { from: AssetWords; to: AssetWords }): Record<string, string> {
  if (form === 'A') return { coinFrom: from.code, coinTo: to.code }
  return { coinFrom: from.coin, networkFrom: from.network, coinTo: to.coin, networkTo: to.network }
}
