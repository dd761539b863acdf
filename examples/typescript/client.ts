/**
 * A client of Form A, to copy. The types are generated from the gateway's own description (`/a/openapi.json`).
 * Amounts are numbers here: where you need more than 15 digits, read and write the JSON with a library for decimals.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { components, operations } from './form-a.d.ts'

type Schemas = components['schemas']
type Refusals = components['responses']
/** Why, for programs. The message is for people: it may change. */
export type Reason = Refusals[keyof Refusals]['headers']['X-Swap-Reason']
type Query<Op extends 'listCurrencies' | 'getRate' | 'listTransactions'> = operations[Op]['parameters']['query']

export interface ClientOptions {
  /** For example `http://127.0.0.1:8080/a`. */
  readonly baseUrl: string
  readonly key: string
  /** How often a question is asked at most. */
  readonly tries?: number
}

/** An answer of 4xx or 5xx. */
export class SwapError extends Error {
  readonly status: number
  /** Null where something in front of the gateway answered. */
  readonly reason: Reason | null
  /** Name it when you report a fault. */
  readonly requestId: string | null
  /** Seconds to wait, where the gateway says so. */
  readonly retryAfter: number | undefined

  constructor(response: Response, body: Schemas['Error']) {
    super(body.message)
    this.name = 'SwapError'
    this.status = response.status
    this.reason = response.headers.get('x-swap-reason') as Reason | null
    this.requestId = response.headers.get('x-request-id')
    const seconds = response.headers.get('retry-after')
    this.retryAfter = seconds === null ? undefined : Number(seconds)
  }
}

/** Worth another try, of a question that may be asked twice. */
const passing: ReadonlySet<Reason> = new Set<Reason>([
  'in_progress',
  'internal',
  'ledger_unavailable',
  'limited',
  'outcome_unknown',
  'overloaded',
  'provider_busy',
  'provider_failed',
  'stopping',
  'timeout',
  'too_slow',
])

function isPassing({ status, reason }: SwapError): boolean {
  return reason === null ? status === 429 || status >= 500 : passing.has(reason)
}

export class SwapClient {
  private readonly options: Required<ClientOptions>

  constructor(options: ClientOptions) {
    this.options = { tries: 8, ...options }
  }

  currencies(query: Query<'listCurrencies'> = {}): Promise<Schemas['CurrencyPage']> {
    return this.ask('GET', '/currencies', { query })
  }

  rate(query: Query<'getRate'>): Promise<Schemas['Rate']> {
    return this.ask('GET', '/rate', { query })
  }

  /** `idempotencyKey`: one of your own for each new swap, kept until you have the answer. Then nothing is created twice. */
  create(order: Schemas['NewTransaction'], idempotencyKey: string): Promise<Schemas['CreatedTransaction']> {
    return this.ask('POST', '/transactions', { body: order, headers: { 'idempotency-key': idempotencyKey } })
  }

  swap(id: string): Promise<Schemas['Transaction']> {
    return this.ask('GET', `/transactions/${encodeURIComponent(id)}`)
  }

  swaps(query: Query<'listTransactions'> = {}): Promise<Schemas['ListedTransactionPage']> {
    return this.ask('GET', '/transactions', { query })
  }

  /** Asks again after a broken connection and after errors that pass, as long as `Retry-After` says or a little longer each time. */
  private async ask<Answer>(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      try {
        return await this.askOnce<Answer>(method, path, sent)
      } catch (error) {
        const isFinal = error instanceof SwapError && !isPassing(error)
        if (isFinal || tried >= this.options.tries) throw error
        const seconds = (error instanceof SwapError && error.retryAfter) || Math.min(8, 0.25 * 2 ** tried)
        await wait(1000 * seconds)
      }
    }
  }

  private async askOnce<Answer>(method: string, path: string, { query = {}, body, headers }: Sent): Promise<Answer> {
    const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const response = await fetch(`${this.options.baseUrl}/api/v2${path}?${parameters}`, {
      method,
      headers: { authorization: `Bearer ${this.options.key}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(30_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new SwapError(response, answer as Schemas['Error'])
    return answer as Answer
  }
}

interface Sent {
  readonly query?: object
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}
