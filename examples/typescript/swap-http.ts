/** Requests with retries, errors by reason and exact amounts. Both clients use it: copy it beside them. */
import { setTimeout as wait } from 'node:timers/promises'
import { parseExact, printExact } from './exact-json.ts'
import type { components } from './form-a.d.ts'

type Refusals = components['responses']
/** Why, for programs: the same words in every form. The message is for people and may change. */
export type Reason = Refusals[keyof Refusals]['headers']['X-Swap-Reason']

export interface ClientOptions {
  /** For example `http://127.0.0.1:8080/a`. */
  readonly baseUrl: string
  readonly key: string
  /** How often a request is sent at most. */
  readonly tries?: number
}

/** A response of 4xx or 5xx. */
export class SwapError extends Error {
  readonly status: number
  /** Null if something else than swapgate responded: a proxy, or a service without reasons. */
  readonly reason: Reason | null
  /** Include it when you report a fault. */
  readonly requestId: string | null
  /** Seconds to wait, if the service names them. */
  readonly retryAfter: number | undefined

  constructor({ status, headers }: Response, message: string) {
    super(message)
    this.name = 'SwapError'
    this.status = status
    this.reason = headers.get('x-swap-reason') as Reason | null
    this.requestId = headers.get('x-request-id')
    const seconds = Number(headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined
  }
}

/**
 * A create may or may not have happened, and repeating it with another key could make a second swap: look at your list of swaps first.
 * `cause` is what came last. After any other error this call has certainly created nothing.
 */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The swap may have been created or not: look at your list of swaps before you create it again.', { cause })
    this.name = 'OutcomeUnknown'
  }
}

/** Reasons that may be gone at the next try. */
const passing: ReadonlySet<Reason> = new Set<Reason>([
  ...(['in_progress', 'internal', 'ledger_unavailable', 'limited', 'outcome_unknown', 'overloaded'] as const),
  ...(['provider_busy', 'provider_failed', 'stopping', 'timeout', 'too_slow'] as const),
])

/** Reasons after which the swap may exist. */
const doubtful: ReadonlySet<Reason> = new Set<Reason>(['in_progress', 'internal', 'mismatch', 'needs_person', 'outcome_unknown'])
/** Statuses below 500 that say nothing about what happened, if something else than swapgate responded. */
const doubtfulStatuses: ReadonlySet<number> = new Set([408, 409, 423, 424, 425, 499])
/** Codes of failures before a connection was made. */
const unsentCodes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

export interface SwapRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: object
  readonly body?: object
  /** Of a create. */
  readonly idempotencyKey?: string
}

export class SwapHttp {
  private readonly options: Required<ClientOptions>
  private readonly credential: Readonly<Record<string, string>>
  /** Known from the headers of its responses. */
  private isSwapgate = false

  constructor(options: ClientOptions, credential: Readonly<Record<string, string>>) {
    this.options = { tries: 8, ...options }
    this.credential = credential
  }

  /** Repeats the request after a broken connection and after errors that pass, after `Retry-After` or a growing pause. */
  async send<Body>(request: SwapRequest): Promise<Body> {
    let mayExist = false
    for (let tried = 1; ; tried++) {
      try {
        return await this.sendOnce<Body>(request)
      } catch (error) {
        // A later refusal says nothing about an earlier try.
        mayExist ||= request.idempotencyKey !== undefined && !createsNothing(error)
        const mayRepeat = isPassing(error) && tried < this.options.tries && (!mayExist || (await this.keepsKeys()))
        if (!mayRepeat) throw mayExist ? new OutcomeUnknown(error) : error
        const seconds = (error instanceof SwapError && error.retryAfter) || Math.min(8, 0.25 * 2 ** tried)
        await wait(1000 * seconds)
      }
    }
  }

  /** Only swapgate promises that creates with the same `Idempotency-Key` are one swap. If it has not responded yet, a read shows who does. */
  private async keepsKeys(): Promise<boolean> {
    if (!this.isSwapgate) await this.send({ method: 'GET', path: '/currencies', query: { size: 1 } }).catch(() => {})
    return this.isSwapgate
  }

  private async sendOnce<Body>({ method, path, query = {}, body, idempotencyKey }: SwapRequest): Promise<Body> {
    const known = Object.entries(query).filter(([, value]) => value !== undefined)
    const parameters = new URLSearchParams(known.map(([name, value]) => [name, String(value)]))
    const response = await fetch(`${this.options.baseUrl}/api/v2${path}${known.length > 0 ? `?${parameters}` : ''}`, {
      method,
      headers: {
        ...this.credential,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      signal: AbortSignal.timeout(30_000),
      ...(body && { body: printExact(body) }),
    })
    this.isSwapgate ||= response.headers.has('x-swap-form')
    const text = await response.text()
    if (!response.ok) throw new SwapError(response, messageOf(text) ?? response.statusText)
    return parseExact(text) as Body
  }
}

/** Of this try: it was refused, or nothing was sent. */
function createsNothing(error: unknown): boolean {
  if (error instanceof TypeError) return isUnsent(error)
  if (!(error instanceof SwapError)) return false
  const { reason, status } = error
  return reason === null ? status < 500 && !doubtfulStatuses.has(status) : !doubtful.has(reason)
}

/** `printExact` throws before anything is sent; `fetch` has the cause of a failed connection. */
function isUnsent({ cause }: TypeError): boolean {
  return cause === undefined || (cause instanceof Error && 'code' in cause && unsentCodes.has(cause.code))
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof SwapError)) return !(error instanceof TypeError && error.cause === undefined)
  const { reason, status } = error
  return reason === null ? status === 429 || status >= 500 : passing.has(reason)
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { readonly message?: string }).message
  } catch {
    return undefined
  }
}
