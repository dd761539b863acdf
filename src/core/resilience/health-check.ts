import { singleFlight } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import type { BudgetPolicy } from '../../domain/observation.ts'
import { type Context, gatewayContext, type Op, type Request, type SwapService } from '../../domain/service.ts'
import type { UpstreamScope } from '../provider-scope.ts'
import { callResultOf } from './operation-breaker.ts'

/** The read that is used as a health check: with the gateway's own key, or without a key. */
export type HealthCheckOp = UpstreamScope['keyedRead']

/** Reads from the provider as a health check. Rejects with the provider's `Fault`. A row that is not of the form is no failure: it may be a client's. */
export function healthCheck(
  op: HealthCheckOp,
  service: SwapService,
  clientCapabilities: Context['clientCapabilities'],
  timeoutMs: number,
): Promise<unknown> {
  return gatewayCall(op, { page: 1, size: 1 }, service, clientCapabilities, timeoutMs)
}

/** Calls the provider without a client. Rejects with the provider's `Fault`. */
function gatewayCall<O extends Op>(
  op: O,
  request: Request<O>,
  service: SwapService,
  clientCapabilities: Context['clientCapabilities'],
  timeoutMs: number,
): Promise<unknown> {
  const context = {
    ...gatewayContext(clientCapabilities, performance.now() + timeoutMs),
    acceptsUnreadableRows: op === 'listTransactions',
  }
  return service.call(op, request, context)
}

type Read = (op: HealthCheckOp) => Promise<unknown>

/** After a successful health check the provider counts as healthy for this time. */
const trustMs = 10_000

/** Health checks of one provider. Concurrent callers share one. */
export class HealthChecks {
  private readonly clock: () => number
  private readonly respondedAt: Partial<Record<HealthCheckOp, number>> = {}
  private readonly flights = {
    listTransactions: singleFlight((read: Read) => this.run('listTransactions', read)),
    listCurrencies: singleFlight((read: Read) => this.run('listCurrencies', read)),
  }

  constructor(clock: () => number) {
    this.clock = clock
  }

  /** Returns whether the health check fails. A result that is no sign of health, such as an exhausted budget, is no failure. */
  fails(op: HealthCheckOp, read: Read): Promise<boolean> {
    if (this.clock() - (this.respondedAt[op] ?? Number.NEGATIVE_INFINITY) < trustMs) return Promise.resolve(false)
    return this.flights[op].run(read)
  }

  private async run(op: HealthCheckOp, read: Read): Promise<boolean> {
    try {
      await read(op)
      this.respondedAt[op] = this.clock()
      return false
    } catch (reason) {
      const result = callResultOf(Fault.from(reason), true)
      return result === 'failed' || result === 'unconnected'
    }
  }
}

// Whether a provider refuses the gateway's key, or only the right to list with it (docs/contract-operators.md §8).

type KeyedCall = { readonly [O in Op]: { readonly op: O; readonly request: Request<O> } }[Op]

/** `unclear`: neither accepted nor refused, such as a timeout. */
type Answer = 'accepted' | 'refused' | 'unclear'

/** Shortest interval between two checks. */
const checkIntervalMs = 10_000
/** After this time a list that was refused is read again. */
const listRefusedForMs = 600_000
const firstRow = { page: 1, size: 1 }

/**
 * Judges the key by calls that carry it. A create or a get that is refused may be about that call, and a list about the right to
 * list: only both together say that the key is refused, unless another call shows that it is accepted.
 */
export class KeyCheck {
  /** Of the provider's account. */
  readonly health: AccountHealth
  private readonly upstream: UpstreamScope
  /** Whether lists of transactions are read with a key of their own. */
  private readonly hasListKey: boolean
  private checkedAt = Number.NEGATIVE_INFINITY
  private acceptedQuote: KeyedCall | undefined
  private acceptedGet: KeyedCall | undefined

  constructor(upstream: UpstreamScope, health: AccountHealth) {
    this.upstream = upstream
    this.health = health
    this.hasListKey = upstream.configured.listKey !== ''
  }

  /** Whether the provider counts as one without a list of transactions. */
  get isListRefused(): boolean {
    return this.upstream.steadyClock() < this.health.listRefusedUntil
  }

  /** Keeps a call that the provider answered: made again, it shows that the key is still accepted. */
  noteAccepted<O extends Op>(op: O, request: Request<O>, id: string | undefined): void {
    const { keyed } = this.upstream
    if (op === 'getRate' && keyed.has(op)) this.acceptedQuote = { op, request: request as Request<'getRate'> }
    const isTransaction = op === 'createTransaction' || op === 'getTransaction'
    if (isTransaction && id !== undefined && keyed.has('getTransaction'))
      this.acceptedGet = { op: 'getTransaction', request: { id } }
  }

  /** A list was refused by itself. */
  noteListRefused(): void {
    if (this.hasListKey || this.acceptedQuote || this.acceptedGet) this.refuseList()
  }

  /** Returns whether the provider refuses the key. At most one check in ten seconds; else false. */
  async isKeyRefused(service: SwapService, { clientCapabilities }: Context): Promise<boolean> {
    const { keyed, steadyClock, timeoutMs } = this.upstream
    if (steadyClock() - this.checkedAt < checkIntervalMs) return false
    this.checkedAt = steadyClock()
    const answerTo = ({ op, request }: KeyedCall): Promise<Answer> =>
      gatewayCall(op, request, service, clientCapabilities, timeoutMs).then(() => 'accepted', answerOf)
    const listed =
      keyed.has('listTransactions') && !this.hasListKey ? await answerTo({ op: 'listTransactions', request: firstRow }) : undefined
    if (listed === 'accepted') this.health.listRefusedUntil = Number.NEGATIVE_INFINITY
    if (listed === 'accepted' || listed === 'unclear') return false
    const other = this.otherCall()
    if (!other) return listed === 'refused'
    const answer = await answerTo(other)
    if (answer === 'accepted' && listed === 'refused') this.refuseList()
    return answer === 'refused'
  }

  /** A call that carries the key and is neither a create nor the list of transactions. Before any was accepted: of an id that no transaction has. */
  private otherCall(): KeyedCall | undefined {
    const { keyed } = this.upstream
    if (keyed.has('listCurrencies')) return { op: 'listCurrencies', request: firstRow }
    const ofNothing: KeyedCall = { op: 'getTransaction', request: { id: unknownId() } }
    return this.acceptedQuote ?? this.acceptedGet ?? (keyed.has('getRate') && keyed.has('getTransaction') ? ofNothing : undefined)
  }

  private refuseList(): void {
    const { tag: provider, steadyClock, observe } = this.upstream
    this.health.listRefusedUntil = steadyClock() + listRefusedForMs
    observe({ what: 'operationRefused', provider, operation: 'listTransactions' })
  }
}

/** An id that no transaction has. */
export function unknownId(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 14)
}

function answerOf(reason: unknown): Answer {
  const { kind, provider } = Fault.from(reason)
  if (provider === undefined) return 'unclear'
  if (kind === 'unauthorized') return 'refused'
  return kind === 'notFound' || kind === 'invalid' ? 'accepted' : 'unclear'
}

/** What is known of an account at a service: providers with one account share it (docs/contract-operators.md §8). On the clock of its callers. */
export class AccountHealth {
  /** The ends of the cooldowns. */
  readonly cooldownUntil: Record<BudgetPolicy, number> = { quotes: 0, create: 0, read: 0 }
  /** Until then the provider counts as one without a list of transactions. */
  listRefusedUntil = Number.NEGATIVE_INFINITY
}
