/** The one port of the system: the gateway offers it, every provider offers it. */
import type { Span } from '../tracing/span.ts'
import type { UpstreamTimer } from '../tracing/upstream-timer.ts'
import type { Capabilities } from './capabilities.ts'
import type { Op, Request, ResponseBody } from './operations.ts'
import type { Pair } from './swap.ts'

export interface Caller {
  /** The client's address: the socket's, or the one behind trusted proxies. */
  readonly address: string
  readonly key?: string
  /** Whom the key stands for, without saying it: what limits and owners go by. */
  readonly identity?: string
  /** Whether a key came that nobody issued. */
  readonly isKeyUnknown?: boolean
}

/** An `Idempotency-Key` that somebody gave to one question. */
export interface Claim {
  readonly key: string
  /** The question, so that another one under the same key is noticed. */
  readonly fingerprint: string
}

export interface Context {
  readonly requestId: string
  readonly caller: Caller
  /** What the caller's form can say: what it cannot say need not be found out. */
  readonly clientCapabilities: Capabilities
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number
  /** The caller's `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined
  /** Tag of the provider that the caller asks for. */
  readonly pick?: string | undefined
  /** What the key claims, once the question is read. */
  readonly claim?: Claim
  /** The id under which the ledger knows this create. */
  readonly attempt?: string
  /** The assets of the question in the stable words, once they are known: the question itself is then in the provider's. */
  readonly pair?: Pair
  /** What is told of the way that the question takes, where anything is. */
  readonly span?: Span | undefined
  /** The wait for a place at the provider. */
  readonly queue?: Span
  /** Whether the gateway calls of its own accord: a list, a look for an unknown create, a probe. */
  readonly isGatewayCall?: boolean
  /** Whether only the part of a budget pays for it that is kept for the gateway's own reads. */
  readonly isReservedOnly?: boolean
  /** How often the same call has gone up before. */
  readonly resends?: number
  /** Whether a row of a list that is not of the provider's form is handed over by itself, and does not spoil its page. */
  readonly acceptsUnreadableRows?: boolean
  readonly upstreamTimer?: UpstreamTimer
}

/** `work` is somebody else's call at a provider, for which this question waits too. */
export function timedUpstream<T>({ upstreamTimer }: Pick<Context, 'upstreamTimer'>, work: Promise<T>): Promise<T> {
  if (!upstreamTimer) return work
  upstreamTimer.start(performance.now())
  return work.finally(() => upstreamTimer.stop(performance.now()))
}

export interface ServiceResponse<O extends Op> {
  readonly body: ResponseBody<O>
  /** Tag of the provider that answered; absent for a union of several. */
  readonly provider?: string
  /** Fields worked out by the gateway instead of told by the provider. */
  readonly derived?: readonly string[]
  /** Seconds since the provider said so, where that was not just now. */
  readonly ageSeconds?: number
  /** Seconds since the provider said so, where it cannot be asked now. */
  readonly staleSeconds?: number | undefined
  /** Greater for a request that went up later, over all processes; absent where none did. */
  readonly sequence?: number | undefined
  /** Whether this is the answer to an earlier request under the same `Idempotency-Key`. */
  readonly replayed?: boolean
  /** Fields of a create in which the answer contradicts the question. */
  readonly contradicted?: readonly string[]
}

export interface SwapService {
  call<O extends Op>(op: O, request: Request<O>, context: Context): Promise<ServiceResponse<O>>
}
