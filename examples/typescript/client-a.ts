/**
 * A client of Form A, to copy with `swap-http.ts` and `exact-json.ts`. The types are generated from the gateway's own description
 * (`/a/openapi.json`). Amounts are texts, with all their digits.
 */
import type { Exact } from './exact-json.ts'
import type { components, operations } from './form-a.d.ts'
import { type ClientOptions, SwapHttp } from './swap-http.ts'

type Schemas = Exact<components['schemas']>
type Query<Op extends 'listCurrencies' | 'getRate' | 'listTransactions'> = Exact<NonNullable<operations[Op]['parameters']['query']>>

export class ClientA {
  private readonly http: SwapHttp

  constructor(options: ClientOptions) {
    this.http = new SwapHttp(options, { authorization: `Bearer ${options.key}` })
  }

  currencies(query: Query<'listCurrencies'> = {}): Promise<Schemas['CurrencyPage']> {
    return this.http.send({ method: 'GET', path: '/currencies', query })
  }

  rate(query: Query<'getRate'>): Promise<Schemas['Rate']> {
    return this.http.send({ method: 'GET', path: '/rate', query })
  }

  /** `idempotencyKey`: one of your own for each new swap, kept until you have the response. Then nothing is created twice. */
  create(order: Schemas['NewTransaction'], idempotencyKey: string): Promise<Schemas['CreatedTransaction']> {
    return this.http.send({ method: 'POST', path: '/transactions', body: order, idempotencyKey })
  }

  swap(id: string): Promise<Schemas['Transaction']> {
    return this.http.send({ method: 'GET', path: `/transactions/${encodeURIComponent(id)}` })
  }

  swaps(query: Query<'listTransactions'> = {}): Promise<Schemas['ListedTransactionPage']> {
    return this.http.send({ method: 'GET', path: '/transactions', query })
  }
}
