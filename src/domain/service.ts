/** The central port: the gateway implements it for clients, and every provider implements it. */
import type { Amount } from './amount.ts'
import type { ContextValues } from './context-values.ts'
import { Fault } from './fault.ts'
import type { AccountLimits, KeyScope } from './key-access.ts'
import type { Doubt, Status } from './status.ts'
import type {
  Currency,
  CurrencyQuery,
  NewTransaction,
  Page,
  Pair,
  Rate,
  RateQuery,
  Transaction,
  TransactionQuery,
  TransactionReference,
} from './swap.ts'
import type { SwapAction } from './swap-action.ts'
import type { Timeline } from './timeline.ts'
import type { Span, UpstreamTimer } from './trace.ts'

/** Whose a key is. */
export interface Identity {
  /** Identifies the caller without revealing the key: the subject of limits and the owner of transactions. */
  readonly identity: string
  /** Of an issued key: the name of its account, and its public id. */
  readonly account?: string | undefined
  readonly keyId?: string | undefined
  /** What the key may do; absent: everything. */
  readonly scope?: readonly KeyScope[] | undefined
  /** Of the account. */
  readonly limits?: AccountLimits | undefined
}

/** The client of a request. */
export interface Caller extends Partial<Identity> {
  /** The client's address: the socket's, or the one from trusted proxies. */
  readonly address: string
  readonly key?: string
  /** Whether the request has a key that was never issued. */
  readonly isKeyUnknown?: boolean
}

/** An `Idempotency-Key`, with the request that it stands for. */
export interface IdempotencyKey {
  readonly key: string
  /** Identifies the request by today's asset table, to detect another one with the same key. */
  readonly fingerprint: string
  /** The same request, to be compared by a later table. */
  readonly request?: ClientRequest
}

/** A create as its client wrote it. */
export type ClientRequest = NewTransaction & {
  /** Tag of the provider that the client chose. */
  readonly pick?: string | undefined
}

/** The context of a call. Each layer may pass on a changed copy. */
export interface Context {
  readonly requestId: string
  readonly caller: Caller
  /** The fields of the caller's form. Other fields need not be read. */
  readonly clientCapabilities: Capabilities
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number
  /** The text of the caller's `Idempotency-Key`. */
  readonly idempotencyKeyHeader?: string | undefined
  /** Tag of the provider that the caller requests. */
  readonly pick?: string | undefined
  /** The table's names of the request's assets, once they are resolved: the request itself then has the provider's names. */
  readonly pair?: Pair
  /** Whether the gateway itself makes the call: a list, a reconciliation, a health check. */
  readonly isGatewayCall?: boolean
  /** The current span, if the request is traced. */
  readonly span?: Span | undefined
  /** Where the time of calls to providers is counted. */
  readonly upstreamTimer?: UpstreamTimer
  /** Of a client's create. */
  readonly timeline?: Timeline | undefined
  /** What two layers share. */
  readonly values?: ContextValues | undefined
}

/** The caller's identity, which owns its transactions. Throws `internal` if the caller is not authenticated. */
export function ownerOf({ caller }: Context): string {
  if (caller.identity === undefined) throw new Fault('internal', 'A transaction was requested without an identity.')
  return caller.identity
}

/** Of a call of the gateway's own, which has no client. `deadline`: without it the provider's own timeout applies. */
export function gatewayContext(clientCapabilities: Capabilities, deadline = Number.POSITIVE_INFINITY): Context {
  return { requestId: crypto.randomUUID(), caller: { address: '' }, clientCapabilities, deadline, isGatewayCall: true }
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

/**
 * `memo_recommended`: an address is on a network with memos or tags, and the create has none for it. `rows_unreadable`: rows of the list are
 * not of the provider's form, and were left out. `ledger_restored`, `ledger_unavailable`: rows, or their deposit addresses, may be missing.
 */
export const warnings = ['memo_recommended', 'rows_unreadable', 'ledger_restored', 'ledger_unavailable'] as const
export type Warning = (typeof warnings)[number]

/** The response of an operation with its metadata. */
export interface ServiceResponse<O extends Op> {
  readonly body: ResponseBody<O>
  /** Tag of the provider that responded; absent for a union of several. */
  readonly provider?: string
  /** Tags of the providers of a union. */
  readonly sources?: readonly string[]
  /** Fields that the gateway derived. */
  readonly derived?: readonly string[]
  readonly caching?: Caching
  /** Seconds since the provider's last report, if the provider cannot be read now. */
  readonly staleSeconds?: number | undefined
  /** Greater for a request that was sent later, over all processes. Absent if none was sent. */
  readonly sequence?: number | undefined
  /** Of a get: why nothing may be paid. */
  readonly doubt?: Doubt | undefined
  /** What the provider's own response says beside its body. */
  readonly report?: ProviderReport
  /** Set if this is the response to an earlier request with the same `Idempotency-Key`. */
  readonly replay?: Replay
  /** Of a create or a list: what the client should look at again. */
  readonly warning?: Warning
}

export interface Replay {
  /** Of a create: the newest known status. */
  readonly latestStatus?: Status | undefined
}

/** How caches may keep a response. */
interface Caching {
  /** Whether the response is for this client alone, so that none may store it. */
  readonly isForbidden?: boolean
  /** Seconds since the provider's response, if it was cached. */
  readonly ageSeconds?: number
  /** Of a cached page. */
  readonly encodings?: Encodings
}

/** Of one swap. */
interface ProviderReport {
  /** Fields in which it contradicts the request of the create. */
  readonly contradicted?: readonly string[]
  /** What the quote that was requested for this create alone gives for the requested amount. */
  readonly quotedAmount?: Amount | undefined
  /** Of a get: whether there is no refund address. */
  readonly deniesRefund?: boolean
  /** Of a get: whether the provider waits for what the owner decides, where the words of its statuses say that. */
  readonly awaitsOwner?: boolean | undefined
  /** Of a get with `success` or `refunded`: whether the provider does not have the amount sent, or the hash of the payout or the refund, yet. */
  readonly lacksPayout?: boolean
}

/** Rejects only with a `Fault`. */
export interface SwapService {
  call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<ServiceResponse<O>>
}

// The five operations with their requests and responses.

export interface Operations {
  listCurrencies: { request: CurrencyQuery; response: Page<Currency> }
  getRate: { request: RateQuery; response: Rate }
  createTransaction: { request: NewTransaction; response: Transaction }
  listTransactions: { request: TransactionQuery; response: Page<Transaction> }
  getTransaction: { request: TransactionReference; response: Transaction }
}

export type Op = keyof Operations
export type Request<O extends Op> = Operations[O]['request']
export type ResponseBody<O extends Op> = Operations[O]['response']
/** One row of the response: the response itself, or an item of its page. */
export type Row<O extends Op> = ResponseBody<O> extends Page<infer Item> ? Item : ResponseBody<O>

/** The operation of a request or call in metrics and logs: one of the five, or a call of the native lane. */
export type OperationName = Op | 'native'

export const ops: readonly Op[] = ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']

/** A call to a provider, in metrics, logs and traces. */
export type CallName = OperationName | SwapAction

export const operationNames: readonly OperationName[] = [...ops, 'native']

/** A record with the result of `make` for each operation. */
export function forEachOp<T>(make: (op: Op) => T): Record<Op, T> {
  return {
    listCurrencies: make('listCurrencies'),
    getRate: make('getRate'),
    createTransaction: make('createTransaction'),
    listTransactions: make('listTransactions'),
    getTransaction: make('getTransaction'),
  }
}

/** Operations that need a key; the others are public (docs/service.md §5). */
export const keyed: ReadonlySet<Op> = new Set<Op>(['createTransaction', 'listTransactions', 'getTransaction'])

/** Operations whose response is a page. */
export const paged: ReadonlySet<Op> = new Set<Op>(['listCurrencies', 'listTransactions'])

/** The capabilities of a form: the domain fields of each request and response, and its guarantees. */
export interface Capabilities {
  readonly requestFields: Readonly<Record<Op, ReadonlySet<string>>>
  readonly responseFields: Readonly<Record<Op, ReadonlySet<string>>>
  /** Whether the form guarantees transaction lists with the newest creation first. */
  readonly newestFirst: boolean
  /** Whether `amountOut` of an unfinished transaction is the expected amount. Otherwise it is empty until it is known. */
  readonly hasExpectedAmount: boolean
  /** The most rows that a page of it can have. */
  readonly pageSize: number
}

/** True if the form names an asset by code, false if by coin and network. */
export function namesByCode(capabilities: Capabilities): boolean {
  return capabilities.requestFields.getRate.has('codeFrom')
}

// A gate admits a call before its request is decoded. It depends only on the operation and the caller.

/** The state of one limit of a caller. Times are whole seconds. */
export interface Quota {
  readonly policy: string
  readonly limit: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** The result of a gate. The call is admitted unless `refusal` is set. */
export interface Admission {
  /** The limit that the call was counted for. */
  readonly quota?: Quota
  /** Set if the call is rejected. */
  readonly refusal?: Fault
}

/** `needsKey`: whether a request without a key is refused; by default as the operation does. */
export type Gate = (op: Op, caller: Caller, needsKey?: boolean) => Promise<Admission>

// The states of a provider.

/**
 * The use of a provider (docs/contract-operators.md §12): `active`: for everything; `draining`: only for reads of its transactions; `off`: it
 * is not called, and its transactions are returned from the ledger.
 */
export const providerStates = ['active', 'draining', 'off'] as const

export type ProviderState = (typeof providerStates)[number]
