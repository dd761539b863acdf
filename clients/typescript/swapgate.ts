/**
 * A client of swapgate, to copy into your project: this file is all of it. It needs `fetch`: Node from 20, a browser, Deno, Bun.
 * It speaks Form A. Amounts are texts with all their digits, in requests and in responses: no number of JavaScript ever holds one.
 */

// What is sent, and what comes back.

/** A decimal number as a text, in the grammar of JSON's numbers: `'0.10'`. */
export type Amount = string
export type RateType = 'fixed' | 'float'

/** In their order; `overdue` may still go on, after a late deposit. */
/** Why a swap needs support. A later version may have more words. */
export type Attention = 'failed' | 'held' | 'lost' | 'unknown_status'

/** Why a swap does not go on, or was sent back. */
export type StatusReason =
  | ('kyc' | 'aml' | 'memo_missing' | 'wrong_network' | 'amount_out_of_range' | 'late_deposit' | 'address_invalid')
  | ('provider_error' | 'other')

export type Status = 'wait' | 'confirmation' | 'confirmed' | 'exchanging' | 'sending' | 'success' | 'overdue' | 'refunded'

export interface Currency {
  /** Names the coin and its network: `USDTTRC20`. */
  readonly code: string
  readonly name: string
  readonly icon: string
  readonly network?: string
  readonly depositMin?: Amount
  readonly depositMax?: Amount
  /** Whether it can be sent at any provider; absent if none says so. */
  readonly canDeposit?: boolean
  /** Whether it can be received at any provider; absent if none says so. */
  readonly canWithdraw?: boolean
  /** Whether it is swapped at a fixed rate at any provider; absent if none says so. */
  readonly fixedRate?: boolean
}

/** What is sent, or, as `amountTo`, what is to be received: the answer's `amount` is then what must be sent for it. */
export type RequestedAmount =
  | { readonly amount: Amount; readonly amountTo?: never }
  | { readonly amount?: never; readonly amountTo: Amount }

export type RateQuery = RequestedAmount & {
  readonly coinFrom: string
  readonly coinTo: string
  /** `float` if you send none. */
  readonly rateType?: RateType
}

interface Quoted {
  readonly coinFrom: string
  readonly coinTo: string
  readonly amount: Amount
  readonly amountTo: Amount
  readonly rateType: RateType
  readonly rate?: Amount
  readonly minAmount?: Amount
  readonly maxAmount?: Amount
  readonly fee?: Amount
}

export interface Rate extends Quoted {
  /** Of a quote that is kept for you: one create with it, before `validUntil`, has this price. */
  readonly quoteId?: string
  readonly validUntil?: string
}

/** A swap that is to be created. */
export type Order = RateQuery & {
  /** Of a quote that is kept for you: all else is as in the quote. */
  readonly quoteId?: string
  readonly withdrawalAddress: string
  /** The memo or tag of that address. */
  readonly withdrawalExtraId?: string | null
  readonly refundAddress?: string
  readonly refundExtraId?: string | null
}

interface SwapTerms {
  /** Keep it whole: it names the provider, too. */
  readonly id: string
  readonly amount: Amount
  readonly createdAt: string
  readonly status?: Status
  readonly coinFrom?: string
  readonly coinTo?: string
  /** An estimate until the swap is complete. */
  readonly amountTo?: Amount
  readonly depositAddress?: string
  /** A deposit without this memo or tag may be lost. */
  readonly depositExtraId?: string
  readonly withdrawalAddress?: string
  readonly withdrawalExtraId?: string
  readonly refundAddress?: string
  readonly refundExtraId?: string
  readonly updatedAt?: string
  readonly rate?: Amount
  readonly rateType?: RateType
  /** Until when the deposit must be sent. */
  readonly validUntil?: string
  /** A page of the provider about this swap, or where your user can act. */
  readonly supportUrl?: string
}

export interface ListedSwap extends SwapTerms {
  /** That of `Seen`, in lists too. */
  readonly attention?: Attention
  readonly statusReason?: StatusReason
  /** The transaction that sent the deposit back, and how much. */
  readonly refundHash?: string
  readonly refundAmount?: Amount
}

export type Capability = 'refund' | 'continue' | 'refund-address'

export interface Swap extends ListedSwap {
  readonly status: Status
  /** What can be done about it now, each by a POST to this path below it. */
  readonly capabilities?: readonly Capability[]
}

export interface CreatedSwap extends SwapTerms {
  readonly status: Status
  readonly coinFrom: string
  readonly coinTo: string
  readonly depositAddress: string
  readonly withdrawalAddress: string
  readonly rateType: RateType
}

/** What the gateway knows of one side of a pair. */
export interface PairSide {
  readonly coin: string
  readonly network?: string
  /** A create with more decimals is refused. */
  readonly decimals?: number
  /** Whether an address there may need a memo or tag. */
  readonly memoNeeded?: boolean
  /** Every address matches this regular expression; a text that matches may still be none. */
  readonly addressPattern?: string
}

export interface Pair {
  readonly from: PairSide
  readonly to: PairSide
  readonly directions: { readonly forward?: boolean; readonly reverse?: boolean }
  readonly rateTypes: readonly { readonly rateType: RateType; readonly minAmount?: Amount; readonly maxAmount?: Amount }[]
}

export interface AddressToCheck {
  /** The code of a coin on its network. */
  readonly coin: string
  readonly address: string
  /** The memo or tag of the address. */
  readonly extraId?: string | null
}

export interface AddressCheck {
  readonly valid: boolean
  readonly errors: readonly ParameterError[]
}

/** The quotes of the providers that you may choose, the best first, and which have none. */
export interface Rates {
  readonly rates: readonly (Quoted & { readonly provider: string })[]
  readonly failed: readonly { readonly provider: string; readonly reason: string; readonly message: string }[]
}

export interface ParameterError {
  /** The name as you sent it; empty for the request as a whole. */
  readonly field: string
  readonly reason: string
  readonly message: string
}

export interface PageQuery {
  /** From 1. */
  readonly page?: number
  /** From 1 to 100. */
  readonly size?: number
}

export interface ListQuery extends PageQuery {
  readonly status?: Status
  /** Only swaps whose status changed then or later: `2026-11-20T10:24:10Z`. */
  readonly updatedSince?: string
}

export interface Page<Row> {
  readonly data: readonly Row[]
  readonly pagination: { readonly page: number; readonly size: number; readonly total: number }
}

/** A swap, and what the gateway knows beside it. */
export interface Seen {
  readonly swap: Swap
  /** The provider reported that the swap failed, holds it for a check, does not find it any more, or has a status that nobody knows. Send your user to support. */
  readonly attention?: Attention
  /** The provider cannot be asked now: this was known so many seconds ago. */
  readonly staleSeconds?: number
  /** After so many seconds it is worth while to ask again. */
  readonly pollAfterSeconds?: number
}

export interface Created {
  readonly swap: CreatedSwap
  /** The key that it was created under. */
  readonly idempotencyKey: string
  /** It had been created before, under the same key: this is the first response. */
  readonly isRepeated: boolean
  /** Of a repeated one, if it does not wait for its deposit any more. */
  readonly newestStatus?: Status
  /** An address is on a network with memos or tags, and the order has none for it. Ask your user before anything is paid. */
  readonly warning?: 'memo_recommended'
}

// What can go wrong: a class for each thing that a caller may do about it.

interface ErrorDetails {
  /** `X-Swap-Reason`: one of `reasons`, or a newer one. Absent if something else than the gateway responded, or nothing. */
  readonly reason?: string
  /** The status of HTTP. Absent if there was no response. */
  readonly status?: number
  /** Include it when you report a fault. */
  readonly requestId?: string
  /** Seconds after which the same request may be sent again. */
  readonly retryAfter?: number
  /** What is wrong with each parameter. */
  readonly errors?: readonly ParameterError[]
  /** The limits of the pair, where they are known. */
  readonly minAmount?: Amount
  readonly maxAmount?: Amount
}

/** An error of the gateway, or on the way to it. */
export class SwapError extends Error implements ErrorDetails {
  declare readonly reason?: string
  declare readonly status?: number
  declare readonly requestId?: string
  declare readonly retryAfter?: number
  declare readonly errors?: readonly ParameterError[]
  declare readonly minAmount?: Amount
  declare readonly maxAmount?: Amount

  constructor(message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, { cause })
    Object.assign(this, details)
    this.name = new.target.name
  }
}

/** The program has to be changed. */
export class BadRequest extends SwapError {}
/** Choose another coin, network or pair. */
export class AssetRefused extends SwapError {}
/** An address or memo does not match its network. Ask your user. */
export class AddressRefused extends SwapError {}
/** `minAmount` and `maxAmount` are the limits, where they are known. */
export class AmountRefused extends SwapError {}
/** The provider refused, and only its message has the cause. Show it to a person. */
export class ProviderRefused extends SwapError {}
export class KeyRefused extends SwapError {}
export class NotFound extends SwapError {}
/** The quote of the order does not hold. Request another one, and show its price to your user. */
export class QuoteExpired extends SwapError {}
/** The Idempotency-Key belongs to another order. */
export class KeyReused extends SwapError {}
export class Limited extends SwapError {}
/** The gateway or the provider cannot do it now, and nothing was created. Ask later. */
export class Unavailable extends SwapError {}
/** The provider created something else than was ordered. Do not order it again: the operator resolves it. */
export class Mismatch extends SwapError {}

/**
 * The swap may have been created or not. Keep the order and `repeat`, which has the key, and ask again later: `create(order, repeat)`.
 * Under another key it could be created twice. The rest is that of the last try.
 */
export class OutcomeUnknown extends SwapError {
  readonly order: Order
  readonly repeat: CreateOptions & { readonly idempotencyKey: string }

  constructor(order: Order, repeat: OutcomeUnknown['repeat'], last: SwapError) {
    super(`It is not known whether the swap was created: ask again under the same key (${last.message})`, { ...last }, last)
    this.order = order
    this.repeat = repeat
  }
}

interface Meaning {
  readonly error: typeof SwapError
  /** Whether the same request may be answered otherwise a little later. */
  readonly passes?: true
  /** Whether a create with this answer may have made a swap. */
  readonly mayExist?: true
}

const badRequest: Meaning = { error: BadRequest }
const assetRefused: Meaning = { error: AssetRefused }
const addressRefused: Meaning = { error: AddressRefused }
const amountRefused: Meaning = { error: AmountRefused }
const keyRefused: Meaning = { error: KeyRefused }
const limited: Meaning = { error: Limited, passes: true }
const unavailable: Meaning = { error: Unavailable, passes: true }
const unclear: Meaning = { error: Unavailable, passes: true, mayExist: true }

/** Every reason of the gateway's documentation (docs/errors.md). */
const meanings = {
  path: badRequest,
  method: badRequest,
  form_conflict: badRequest,
  parameter_invalid: badRequest,
  parameter_unknown: badRequest,
  body_invalid: badRequest,
  unknown_asset: assetRefused,
  network_required: assetRefused,
  network_unknown: assetRefused,
  not_offered: assetRefused,
  address_invalid: addressRefused,
  memo_invalid: addressRefused,
  below_minimum: amountRefused,
  above_maximum: amountRefused,
  refused: { error: ProviderRefused },
  idempotency_key_missing: badRequest,
  key_missing: keyRefused,
  key_invalid: keyRefused,
  key_scope: keyRefused,
  role: keyRefused,
  not_found: { error: NotFound },
  not_open: { error: NotFound },
  in_progress: unclear,
  outcome_unknown: unclear,
  quote_expired: { error: QuoteExpired },
  needs_person: { error: Unavailable, mayExist: true },
  conflict: badRequest,
  key_reused: { error: KeyReused },
  limited,
  unverified_limited: limited,
  too_large: badRequest,
  media_type: badRequest,
  too_slow: unavailable,
  provider_failed: unavailable,
  provider_busy: unavailable,
  mismatch: { error: Mismatch },
  timeout: unclear,
  overloaded: unavailable,
  ledger_unavailable: unavailable,
  ledger_restored: unclear,
  stopping: unavailable,
  internal: unclear,
} as const satisfies Record<string, Meaning>

export type Reason = keyof typeof meanings

/** Every reason that this client knows; a later gateway may have more. */
export const reasons = Object.keys(meanings) as readonly Reason[]

/** 4xx after which a service in front of the gateway may have let the request through. */
const unclearStatuses: readonly number[] = [408, 409, 423, 424, 425, 499]

/** A reason that is not known, or an answer without one, counts by its status. */
function meaningOf(reason: string | undefined, status: number): Meaning {
  if (reason !== undefined && Object.hasOwn(meanings, reason)) return meanings[reason as Reason]
  if (status === 429) return limited
  if (status >= 500) return unclear
  return { error: SwapError, ...((status < 400 || unclearStatuses.includes(status)) && { mayExist: true }) }
}

/** One try that failed. */
interface Failure extends Omit<Meaning, 'error'> {
  readonly error: SwapError
}

// The client.

export interface Options {
  /** Where the gateway is: `https://swap.example`. */
  readonly url: string
  /** Needed for swaps, not for rates and currencies. */
  readonly key?: string
  /** For how long one call tries again, in seconds. */
  readonly patienceSeconds?: number
  /** For how long it waits for one response, in seconds. */
  readonly timeoutSeconds?: number
}

export interface QuoteOptions {
  /** The tag of the provider that is to respond, where the operator lets you choose. */
  readonly provider?: string
}

export interface RateOptions extends QuoteOptions {
  /** Whether a fixed quote is kept for you, with an id for one create: it needs your key. */
  readonly quoteId?: boolean
}

export interface CreateOptions extends QuoteOptions {
  /** One for each swap: keep it with your order before you call, then it survives a crash. Without it there is a new one for each call. */
  readonly idempotencyKey?: string
  /** You have called before with this key and do not know what became of it: a refusal now is no proof that there is no swap. */
  readonly isRepeat?: boolean
}

export interface WaitOptions {
  /** Called with each status that is new. */
  readonly onChange?: (seen: Seen) => void
  /** When to stop. Else: at `success`, `refunded`, `overdue`, and at any `attention`. */
  readonly until?: (seen: Seen) => boolean
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal
}

/** A change of a swap. `gap`: a change may have been missed, or could not be read: read what you need. */
export type SwapEvent =
  | { readonly kind: 'swap'; readonly swap: Swap; readonly id?: string }
  | { readonly kind: 'gap'; readonly id?: string }

export interface EventOptions {
  /** The swap; without it all swaps of your account. */
  readonly swap?: string
  /** The `id` of the last event that you have: what came after it is sent first. */
  readonly lastEventId?: string
  /** Ends the events with its reason. */
  readonly signal?: AbortSignal
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: object
  readonly body?: string
  /** Members without which a 2xx is not the gateway's. */
  readonly needs?: readonly string[]
  readonly idempotencyKey?: string
  readonly provider?: string | undefined
  readonly signal?: AbortSignal | undefined
}

interface Answer<Body> {
  readonly body: Body
  readonly headers: Headers
}

const pollSeconds = 5
const neededOfSwap = ['id', 'status'] as const
const neededOfCreated = [...neededOfSwap, 'depositAddress'] as const
const ends: ReadonlySet<Status> = new Set<Status>(['success', 'refunded', 'overdue'])

export class SwapClient {
  private readonly base: string
  private readonly options: Required<Options>

  constructor(options: Options) {
    this.base = `${new URL(options.url).href.replace(/\/+$/, '')}/a/api/v2`
    this.options = { key: '', patienceSeconds: 90, timeoutSeconds: 30, ...options }
  }

  async currencies(query: PageQuery & { readonly search?: string } = {}): Promise<Page<Currency>> {
    return this.read('/currencies', query)
  }

  async rate(query: RateQuery, { provider, quoteId }: RateOptions = {}): Promise<Rate> {
    requireAmount(query)
    return this.read('/rate', { ...query, ...(quoteId && { quoteId }) }, provider)
  }

  /** The quotes of all providers that you may choose with this key. */
  async rates(query: RateQuery): Promise<Rates> {
    requireAmount(query)
    return this.read('/rates', query)
  }

  /** Both by their codes. */
  async pair(from: string, to: string): Promise<Pair> {
    return this.read(`/pairs/${encodeURIComponent(from)}/${encodeURIComponent(to)}`)
  }

  /** `warning`: the network has memos, and there is none for this address. */
  async checkAddress(question: AddressToCheck): Promise<AddressCheck & Pick<Created, 'warning'>> {
    const request: Request = { method: 'POST', path: '/addresses/check', body: JSON.stringify(question) }
    const { body, headers } = await this.send<AddressCheck>(request, this.options.patienceSeconds)
    return { ...body, ...warningIn(headers) }
  }

  async get(id: string): Promise<Seen> {
    return this.getWithin(this.options.patienceSeconds, id)
  }

  async list(query: ListQuery = {}): Promise<Page<ListedSwap>> {
    return this.read('/transactions', query)
  }

  /** All coins, page by page. */
  allCurrencies(search?: string): AsyncGenerator<Currency> {
    return rowsOf((page) => this.currencies({ page, size: 100, ...(search !== undefined && { search }) }))
  }

  /** All swaps of the key, page by page. */
  all(query: Omit<ListQuery, keyof PageQuery> = {}): AsyncGenerator<ListedSwap> {
    return rowsOf((page) => this.list({ ...query, page, size: 100 }))
  }

  /**
   * Creates one swap, however often the request has to be sent: always under the same key. It throws `OutcomeUnknown` if a swap may
   * exist, also if a later try was refused or got no connection. Every other error means that there is none, but for `Mismatch`.
   */
  async create(order: Order, options: CreateOptions = {}): Promise<Created> {
    requireAmount(order)
    const { idempotencyKey = crypto.randomUUID(), provider, isRepeat = false } = options
    const body = JSON.stringify(order)
    const request: Request = { method: 'POST', path: '/transactions', body, needs: neededOfCreated, idempotencyKey, provider }
    let mayExist = isRepeat
    try {
      const answer = await this.send<CreatedSwap>(request, this.options.patienceSeconds, (failure) => {
        mayExist ||= failure.mayExist === true
      })
      return createdOf(answer, idempotencyKey)
    } catch (error) {
      if (mayExist && error instanceof SwapError && !(error instanceof Mismatch))
        throw new OutcomeUnknown(order, { ...options, idempotencyKey, isRepeat: true }, error)
      throw error
    }
  }

  /** Asks as often as the gateway advises, until the swap has ended or needs a person. A gateway that cannot be reached is asked again. */
  async waitFor(id: string, { onChange, until = hasEnded, signal }: WaitOptions = {}): Promise<Seen> {
    for (let status: Status | undefined; ; ) {
      const seen = await this.getWithin(Number.POSITIVE_INFINITY, id, signal)
      if (seen.swap.status !== status) onChange?.(seen)
      status = seen.swap.status
      if (until(seen)) return seen
      await pause(seen.pollAfterSeconds || pollSeconds, signal)
    }
  }

  /**
   * Each change of a swap, with its state of now first, until it has ended; or those of all your swaps from now on, without an end.
   * A connection that breaks is made again, and goes on where it was.
   */
  async *events({ swap, lastEventId, signal }: EventOptions = {}): AsyncGenerator<SwapEvent> {
    const path = swap === undefined ? '/events' : `/transactions/${encodeURIComponent(swap)}/events`
    let last = lastEventId
    for (let tried = 0; ; tried++) {
      if (tried > 0 && swap === undefined && last === undefined) yield { kind: 'gap' }
      const silence = new Silence(signal)
      try {
        const response = await this.openEvents(path, last, silence)
        if (response.status === 204) return
        for await (const fields of blocksIn(response, silence)) {
          last = fields.id ?? last
          const event = eventOf(fields)
          if (!event) continue
          tried = 0
          yield event
        }
      } catch (cause) {
        signal?.throwIfAborted()
        if (cause instanceof SwapError) throw cause
      } finally {
        silence.end()
      }
      await pause(Math.min(30, 0.5 * 2 ** tried), signal)
    }
  }

  /** Throws a `SwapError` that does not pass by itself, and anything else for one that does. */
  private async openEvents(path: string, lastEventId: string | undefined, { signal }: Silence): Promise<Response> {
    const headers = new Headers({
      accept: 'text/event-stream',
      prefer: 'amounts=text',
      ...(this.options.key !== '' && { authorization: `Bearer ${this.options.key}` }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    })
    const response = await fetch(`${this.base}${path}`, { headers, redirect: 'manual', signal })
    if (response.ok) return response
    const { error, passes } = failureOf(response, await response.text())
    if (!passes) throw error
    await pause(error.retryAfter ?? 1, signal)
    throw new Error(error.message)
  }

  private async getWithin(patienceSeconds: number, id: string, signal?: AbortSignal): Promise<Seen> {
    const path = `/transactions/${encodeURIComponent(id)}`
    return seenOf(await this.send<Swap>({ method: 'GET', path, needs: neededOfSwap, signal }, patienceSeconds))
  }

  private async read<Body>(path: string, query: object = {}, provider?: string): Promise<Body> {
    return (await this.send<Body>({ method: 'GET', path, query, provider }, this.options.patienceSeconds)).body
  }

  /** Repeats a request that failed for a reason that passes: after `Retry-After`, or a pause that grows. */
  private async send<Body>(
    request: Request,
    patienceSeconds: number,
    onFailure?: (failure: Failure) => void,
  ): Promise<Answer<Body>> {
    const latest = performance.now() + 1000 * patienceSeconds
    for (let tried = 1; ; tried++) {
      const result = await this.sendOnce<Body>(request)
      if ('body' in result) return result
      onFailure?.(result)
      const seconds = result.error.retryAfter || Math.min(8, 0.25 * 2 ** tried)
      if (!result.passes || performance.now() + 1000 * seconds > latest) throw result.error
      await pause(seconds, request.signal)
    }
  }

  private async sendOnce<Body>(request: Request): Promise<Answer<Body> | Failure> {
    const { method, path, query, body, needs = [], idempotencyKey, provider, signal } = request
    const { key, timeoutSeconds } = this.options
    const known = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
    const parameters = String(new URLSearchParams(known.map(([name, value]) => [name, String(value)])))
    // Throws here for a key that no header can have: nothing was sent.
    const headers = new Headers({
      prefer: 'amounts=text',
      ...(key !== '' && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(provider !== undefined && { 'x-swap-provider': provider }),
    })
    const late = AbortSignal.timeout(1000 * timeoutSeconds)
    try {
      const response = await fetch(`${this.base}${path}${parameters && `?${parameters}`}`, {
        method,
        headers,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, late]) : late,
        ...(body !== undefined && { body }),
      })
      return answerOf(response, await response.text(), needs)
    } catch (cause) {
      const error = new Unavailable(`The gateway did not respond: ${messageOf(cause)}`, {}, cause)
      return { error, passes: true, ...(!isUnsent(cause) && { mayExist: true }) }
    }
  }
}

/** Three times as long as the gateway is silent at most. */
const maxSilenceMs = 45_000

/** Ends a connection on which nothing comes any more. */
class Silence {
  readonly signal: AbortSignal
  private readonly controller = new AbortController()
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal
    this.restart()
  }

  restart(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.controller.abort(), maxSilenceMs)
  }

  /** Closes the connection, too. */
  end(): void {
    clearTimeout(this.timer)
    this.controller.abort()
  }
}

async function* blocksIn({ body }: Response, silence: Silence): AsyncGenerator<Fields> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let fields: Fields = {}
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    silence.restart()
    const lines = (rest + decoder.decode(part.value, { stream: true })).split(lineEnd)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') {
        const colon = line.indexOf(':')
        const value = line.slice(colon + 1)
        if (colon > 0) fields[line.slice(0, colon)] = value.startsWith(' ') ? value.slice(1) : value
        continue
      }
      yield fields
      fields = {}
    }
  }
}

/** No other character ends a line. A CR at the end may be half of one. */
const lineEnd = /\r\n|\n|\r(?!$)/
type Fields = Partial<Record<string, string>>

/** Undefined for a comment, an id alone, and an event that this client does not know. */
function eventOf({ event, id, data = '' }: Fields): SwapEvent | undefined {
  const known = id !== undefined && { id }
  if (event === 'gap') return { kind: 'gap', ...known }
  if (event !== 'transaction') return undefined
  try {
    return { kind: 'swap', swap: parse(data, neededOfSwap) as Swap, ...known }
  } catch {
    return { kind: 'gap', ...known }
  }
}

function hasEnded({ swap, attention }: Seen): boolean {
  return ends.has(swap.status) || attention !== undefined
}

/** While others are added, a row may move to the next page and come twice. */
async function* rowsOf<Row>(read: (page: number) => Promise<Page<Row>>): AsyncGenerator<Row> {
  for (let page = 1; ; page++) {
    const { data, pagination } = await read(page)
    yield* data
    if (data.length === 0 || page * pagination.size >= pagination.total) return
  }
}

/** At most a day: a timer cannot count further than to 24 days. */
async function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((done) => {
    const timer = setTimeout(end, 1000 * Math.min(seconds, 86_400))
    function end(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      done()
    }
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}

// Reading an answer.

const amountNames: ReadonlySet<string> = new Set<keyof Currency | keyof Rate | keyof Swap>([
  ...(['amount', 'amountTo', 'depositMin', 'depositMax', 'rate', 'fee', 'minAmount', 'maxAmount', 'refundAmount'] as const),
])

/** Throws for an amount that is a number: its digits are lost. */
function parse(text: string, needs: readonly string[]): object {
  const value: unknown = JSON.parse(text, (name, member: unknown) => {
    if (typeof member === 'number' && amountNames.has(name)) throw new TypeError(`${name} is a number, not a text`)
    return member
  })
  if (typeof value !== 'object' || value === null) throw new TypeError('it is no object')
  const missing = needs.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== 'string')
  if (missing !== undefined) throw new TypeError(`it has no ${missing}`)
  return value
}

function answerOf<Body>(response: Response, text: string, needs: readonly string[]): Answer<Body> | Failure {
  const { ok, status, headers } = response
  if (!ok) return failureOf(response, text)
  try {
    return { body: parse(text, needs) as Body, headers }
  } catch (cause) {
    const message = `The gateway’s response cannot be read: ${messageOf(cause)}`
    return { error: new Unavailable(message, { status, ...traitsOf(headers) }, cause), passes: true, mayExist: true }
  }
}

function failureOf({ status, statusText, headers }: Response, text: string): Failure {
  const reason = headers.get('x-swap-reason') ?? undefined
  const { error, ...more } = meaningOf(reason, status)
  const { message = `${status} ${statusText}`, ...told } = readError(text)
  const details = { status, ...(reason !== undefined && { reason }), ...traitsOf(headers), ...told }
  return { error: new error(message, details), ...more }
}

interface ErrorBody extends Pick<ErrorDetails, 'errors' | 'minAmount' | 'maxAmount'> {
  readonly message?: string
}

/** It may be that of a proxy: what is not of the gateway's form is left out. */
function readError(text: string): ErrorBody {
  try {
    const { message, errors, minAmount, maxAmount } = JSON.parse(text)
    return {
      ...(typeof message === 'string' && { message }),
      ...(Array.isArray(errors) && { errors }),
      ...(typeof minAmount === 'string' && { minAmount }),
      ...(typeof maxAmount === 'string' && { maxAmount }),
    }
  } catch {
    return {}
  }
}

function traitsOf(headers: Headers): Pick<ErrorDetails, 'requestId' | 'retryAfter'> {
  const requestId = headers.get('x-request-id')
  const retryAfter = secondsOf(headers, 'retry-after')
  return { ...(requestId !== null && { requestId }), ...(retryAfter !== undefined && { retryAfter }) }
}

function secondsOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function seenOf({ body, headers }: Answer<Swap>): Seen {
  const attention = headers.get('x-swap-attention')
  const staleSeconds = secondsOf(headers, 'x-swap-stale')
  const pollAfterSeconds = secondsOf(headers, 'x-swap-poll-after')
  return {
    swap: body,
    ...(attention !== null && { attention: attention as NonNullable<Seen['attention']> }),
    ...(staleSeconds !== undefined && { staleSeconds }),
    ...(pollAfterSeconds !== undefined && { pollAfterSeconds }),
  }
}

function createdOf({ body, headers }: Answer<CreatedSwap>, idempotencyKey: string): Created {
  const newestStatus = headers.get('x-swap-status')
  return {
    swap: body,
    idempotencyKey,
    isRepeated: headers.get('idempotent-replayed') === 'true',
    ...(newestStatus !== null && { newestStatus: newestStatus as Status }),
    ...warningIn(headers),
  }
}

function warningIn(headers: Headers): Pick<Created, 'warning'> {
  const warning = headers.get('x-swap-warning')
  return warning === null ? {} : { warning: warning as NonNullable<Created['warning']> }
}

// Small things.

const amountPattern = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** Before anything is sent. A number would have lost digits already. */
function requireAmount({ amount, amountTo }: { readonly amount?: unknown; readonly amountTo?: unknown }): void {
  const [given, ...others] = [amount, amountTo].filter((value) => value !== undefined)
  if (typeof given !== 'string' || !amountPattern.test(given) || others.length > 0)
    throw new TypeError("amount, or amountTo in its place, must be a text like '0.10', in the grammar of JSON's numbers")
}

/** How Node says that there was no connection. A browser does not say it: there anything may have been sent. */
const unsentCodes: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

function isUnsent(error: unknown): boolean {
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && unsentCodes.includes(cause.code)
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
