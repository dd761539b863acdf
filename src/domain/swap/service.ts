/** The central port: the gateway implements it for clients, and every provider implements it. */
import type { Amount } from '../amount.ts'
import type { Span } from '../tracing/span.ts'
import type { UpstreamTimer } from '../tracing/upstream-timer.ts'
import type { Capabilities } from './capabilities.ts'
import type { Op, Request, ResponseBody } from './operations.ts'
import type { Doubt, Status } from './status.ts'
import type { NewTransaction, Pair } from './swap.ts'

/** The client of a request. */
export interface Caller {
  /** The client's address: the socket's, or the one from trusted proxies. */
  readonly address: string
  readonly key?: string
  /** Identifies the caller without revealing the key: the subject of limits and the owner of transactions. */
  readonly identity?: string
  /** Whether the request has a key that was never issued. */
  readonly isKeyUnknown?: boolean
}

/** An `Idempotency-Key` of one request. */
export interface Claim {
  readonly key: string
  /** Identifies the request by today's asset table, to detect another one with the same key. */
  readonly fingerprint: string
  /** The same request, to be compared by a later table. */
  readonly request?: ClientRequest
}

/** A create as its client wrote it. */
export interface ClientRequest extends NewTransaction {
  /** Tag of the provider that the client chose. */
  readonly pick?: string | undefined
}

/** The context of a call. Each layer may pass on a changed copy. */
export interface Context extends RequestContext, CallOptions, Measurement {}

/** What is known of the request that a client sent. The gateway's own calls have it, too. */
export interface RequestContext {
  readonly requestId: string
  readonly caller: Caller
  /** The fields of the caller's form. Other fields need not be read. */
  readonly clientCapabilities: Capabilities
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number
  /** The caller's `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined
  /** Set by `idempotency` for a create that has such a key, stored by `intent`. */
  readonly claim?: Claim
  /** Milliseconds that a create has waited for the ledger so far. Set by `idempotency`, read by `intent`. */
  readonly ledgerWaitMs?: number
  /** Tag of the provider that the caller requests. */
  readonly pick?: string | undefined
  /** The table's names of the request's assets, once they are resolved: the request itself then has the provider's names. */
  readonly pair?: Pair
  /** The amount received in the quote by which this create was given to its provider. */
  readonly quotedAmountOut?: Amount | undefined
  /** The client's address for a provider that needs it: public, without port and zone. Never set in a call of the gateway's own. */
  readonly forwardedAddress?: string
}

/** What a layer requests of the layers below it, for one call to a provider. */
export interface CallOptions {
  /** Whether the gateway itself makes the call: a list, a reconciliation, a health check. */
  readonly isGatewayCall?: boolean
  /** Whether only the budget's reserve for the gateway's own reads may be used. Set by `openPoll`, read by `budgetLimit`. */
  readonly isReservedOnly?: boolean
  /** Whether only `minAmount` and `maxAmount` of a quote are needed. Set by `fetchLimits`, read by the provider's edge. */
  readonly needsLimitsOnly?: boolean
  /** Whether unreadable rows of a list are returned separately (`Page.unreadable`). Set by the reconciliation. */
  readonly acceptsUnreadableRows?: boolean
  /** Must resolve before a create is sent, after its own quote. Set by `intent`, called by the provider's edge. */
  readonly beforeSend?: () => Promise<void>
  /** How often the same call was sent before. Set by `retry`, read by the breaker and the span of the call. */
  readonly resends?: number
}

/** Where the time of a call is counted. */
export interface Measurement {
  /** The current span, if the request is traced. */
  readonly span?: Span | undefined
  /** The span of the wait before the call to the provider. */
  readonly queue?: Span
  readonly upstreamTimer?: UpstreamTimer
}

/** Counts the wait for `work`, a provider call of another request that this request shares. */
export function timedUpstream<T>({ upstreamTimer }: Pick<Context, 'upstreamTimer'>, work: Promise<T>): Promise<T> {
  if (!upstreamTimer) return work
  upstreamTimer.start(performance.now())
  return work.finally(() => upstreamTimer.stop(performance.now()))
}

/** A response as the client's edge wrote it. */
export interface Encoding {
  readonly text: string
  /** Wire names of the omitted fields. */
  readonly omitted: readonly string[]
  /** Undefined if the response must not be cached. */
  readonly etag: string | undefined
}

/** What the client's edge wrote of a cached response, by form: dropped with it. */
export interface Encodings {
  readonly get: (form: string) => Encoding | undefined
  readonly set: (form: string, encoding: Encoding) => void
}

/** The response of an operation with its metadata. */
export interface ServiceResponse<O extends Op> {
  readonly body: ResponseBody<O>
  /** Tag of the provider that responded; absent for a union of several. */
  readonly provider?: string
  /** Tags of the providers of a union. */
  readonly sources?: readonly string[]
  /** Fields that the gateway derived. */
  readonly derived?: readonly string[]
  /** Seconds since the provider's response, if it was cached. */
  readonly ageSeconds?: number
  /** Seconds since the provider's last report, if the provider cannot be read now. */
  readonly staleSeconds?: number | undefined
  /** Greater for a request that was sent later, over all processes. Absent if none was sent. */
  readonly sequence?: number | undefined
  /** Of a get: why nothing may be paid. */
  readonly doubt?: Doubt | undefined
  /** Of a get: whether the provider says that there is no refund address. */
  readonly deniesRefund?: boolean
  /** Of a get with `success`: whether the provider does not have the amount sent, or its hash, yet. */
  readonly lacksPayout?: boolean
  /** Whether the response is for this client alone, so that no cache may store it. */
  readonly isUncacheable?: boolean
  /** Whether this is the response to an earlier request with the same `Idempotency-Key`. */
  readonly replayed?: boolean
  /** Of a replayed create: the newest known status. */
  readonly latestStatus?: Status | undefined
  /** The amount received in the provider's quote that was requested for this create alone. */
  readonly quotedAmountOut?: Amount | undefined
  /** The id of a create in the ledger. */
  readonly attempt?: string
  /** Of a cached page. */
  readonly encodings?: Encodings
  /** Fields in which the response contradicts the request of the create. */
  readonly contradicted?: readonly string[]
}

/** Rejects only with a `Fault`. */
export interface SwapService {
  call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<ServiceResponse<O>>
}
