/** What the stand-ins of real providers share: swaps in memory, a journal, and what a test may do to them. Independent of the gateway. */
import { depositAddressOn } from '../../support/deposit-addresses.ts'
import { type Received, type Reply, standIn } from '../../support/stand-in.ts'

/** An asset in the provider's words. */
export interface Words {
  readonly coin: string
  readonly network: string
  /** It travels with a memo or tag. */
  readonly hasMemo?: true
  readonly contract?: string
}

/** An amount to be sent, or to be received. */
export interface Asked {
  readonly amount: number
  readonly isReceived: boolean
}

interface Amounts {
  readonly amountIn: number
  readonly amountOut: number
}

export interface Order {
  readonly from: Words
  readonly to: Words
  readonly asked: Asked
  readonly isFixed: boolean
  readonly withdrawal: string
  /** Undefined where none was sent. */
  readonly withdrawalMemo?: string | undefined
  readonly refund?: string | undefined
  readonly refundMemo?: string | undefined
  readonly rateId?: string | undefined
  /** The partner's own. */
  readonly reference?: string | undefined
}

export interface Swap extends Omit<Order, 'asked' | 'refund' | 'refundMemo'>, Amounts {
  readonly id: string
  /** In the provider's words; a test sets it. */
  status: string
  readonly deposit: string
  readonly depositMemo: string | null
  readonly createdAt: Date
  /** What is done about it; a test lets it be possible. */
  hasActions?: boolean
  /** What was chosen, where a swap that does not go on waits for that. */
  choice?: string
  refund?: string | undefined
  refundMemo?: string | undefined
  hashIn: string | null
  hashOut: string | null
}

/** Until when it waits for the deposit. */
export function expiryOf({ createdAt }: Pick<Swap, 'createdAt'>): Date {
  return new Date(createdAt.getTime() + 1_800_000)
}

export type Operation = 'currencies' | 'quote' | 'limits' | 'create' | 'get' | 'list' | Action

/** What is done about a swap. */
export type Action = 'refund' | 'continue' | 'refundAddress'

/** Why a provider refuses; `noUser`: it needs the user's address; `parameter`: its name is in `of`. */
export type Why =
  | 'key'
  | 'path'
  | 'parameter'
  | 'pair'
  | 'below'
  | 'above'
  | 'address'
  | 'memo'
  | 'rateId'
  | 'unknownId'
  | 'noUser'
  | 'blockedUser'
  | 'action'

export class Refused extends Error {
  readonly why: Why
  /** The parameter, or the amount. */
  readonly of: string

  constructor(why: Why, of = '') {
    super(`${why} ${of}`)
    this.why = why
    this.of = of
  }
}

/** How one provider speaks. Both throw nothing but `Refused`. */
export interface Dialect {
  readonly name: string
  readonly assets: readonly Words[]
  readonly firstStatus: string
  /** Of its swap with this number; undefined: as most have them. */
  readonly idOf?: (number: number) => string
  /** Undefined: it has no such path. */
  readonly operationOf: (received: Received) => Operation | undefined
  readonly reply: (operation: Operation, received: Received, exchange: Exchange) => Reply
  readonly refuse: (refused: Refused, operation: Operation, received: Received, exchange: Exchange) => Reply
}

/** One request as it came, and what it did. */
export interface Call {
  readonly operation: Operation | 'other'
  readonly received: Received
  /** Milliseconds since 1970. */
  readonly at: number
  /** The id of the swap that it created. */
  readonly applied?: string | undefined
  readonly refused?: Why | undefined
}

export interface Market {
  float: number
  fixed: number
  min: number
  /** Null: none. */
  max: number | null
}

export class Exchange {
  readonly dialect: Dialect
  readonly calls: Call[] = []
  readonly swaps: Swap[] = []
  readonly market: Market = { float: 16.5, fixed: 16, min: 0.002, max: 50 }
  key = 'key-at-the-provider'
  /** What signs beside the key, where the provider has that. */
  secret = 'secret-at-the-provider'
  /** Of other accounts there. */
  readonly otherKeys = new Set<string>()
  /** The response to the next create is lost after it was applied. */
  losesNextCreate = false
  /** The response to the next action is lost, before it is applied or after that. */
  losesNextAction: 'before' | 'after' | undefined
  /** Users call it themselves, so that no header has their address. */
  isCalledByUsers = false
  /** Addresses of users that it does not serve. */
  readonly blockedUsers = new Set<string>()
  /** By which share a create gives less than was promised or quoted, or asks for more. */
  shorts = 0
  /** Ids of fixed quotes are given and not kept. */
  forgetsRateIds = false
  /** Replaces the response after the create was applied; undefined: the usual one. */
  tamper: (operation: Operation, reply: Reply) => Reply | undefined = () => undefined
  /** Whether this partner's references are kept, where the provider does that only on request. */
  keepsReferences = false
  /** Deposit addresses come without the memo that they need. */
  forgetsMemos = false
  /** Milliseconds, by operation. */
  readonly delays: Partial<Record<Operation, number>> = {}
  /** By id. */
  private readonly promises = new Map<string, Amounts>()
  private numbers: number
  private readonly closed = new Set<string>()

  constructor(dialect: Dialect, firstNumber: number) {
    this.dialect = dialect
    this.numbers = firstNumber
  }

  /** Throws unless it has both. */
  pair(from: Partial<Words>, to: Partial<Words>): { readonly from: Words; readonly to: Words } {
    const known = ({ coin, network }: Partial<Words>): Words | undefined =>
      this.dialect.assets.find((words) => words.coin === coin && words.network === network)
    const [knownFrom, knownTo] = [known(from), known(to)]
    if (!knownFrom || !knownTo || knownFrom === knownTo || this.closed.has(knownFrom.coin.toLowerCase())) throw new Refused('pair')
    return { from: knownFrom, to: knownTo }
  }

  isKey(key: string): boolean {
    return key === this.key || this.otherKeys.has(key)
  }

  /** This coin is listed and no longer taken. */
  close(coin: string): void {
    this.closed.add(coin)
  }

  requireWithinLimits(amount: number): void {
    const { min, max } = this.market
    if (amount < min) throw new Refused('below', String(amount))
    if (max !== null && amount > max) throw new Refused('above', String(amount))
  }

  /** Both amounts, and throws if what is to be sent is outside of the limits. */
  quote(asked: Asked, isFixed: boolean): Amounts {
    const { amount, isReceived } = asked
    const rate = isFixed ? this.market.fixed : this.market.float
    const other = Number((isReceived ? amount / rate : amount * rate).toFixed(8))
    const amounts = isReceived ? { amountIn: other, amountOut: amount } : { amountIn: amount, amountOut: other }
    this.requireWithinLimits(amounts.amountIn)
    return amounts
  }

  /** The id of a quote that holds for one create. */
  promise(amounts: Amounts): string {
    const rateId = `rate-${++this.numbers}`
    if (!this.forgetsRateIds) this.promises.set(rateId, amounts)
    return rateId
  }

  /** Applies it. `needsRateId`: a fixed one without the id of a quote is refused. */
  create(order: Order, needsRateId: boolean): Swap {
    if (!/^[A-Za-z0-9]{6,}$/.test(order.withdrawal)) throw new Refused('address')
    if (order.withdrawalMemo && !order.to.hasMemo) throw new Refused('memo')
    const { asked, ...facts } = order
    const amounts = this.quote(asked, order.isFixed)
    const promised = this.promises.get(order.rateId ?? '')
    if (order.isFixed && promised === undefined && (needsRateId || order.rateId)) throw new Refused('rateId')
    this.promises.delete(order.rateId ?? '')
    const { amountIn, amountOut } = promised ?? amounts
    const less = Number((amountOut * (1 - this.shorts)).toFixed(8))
    const more = Number((amountIn * (1 + this.shorts)).toFixed(8))
    const number = ++this.numbers
    const swap: Swap = {
      ...facts,
      ...(asked.isReceived ? { amountIn: more, amountOut } : { amountIn, amountOut: less }),
      id: this.dialect.idOf?.(number) ?? `6880e2730aee${number}`,
      status: this.dialect.firstStatus,
      deposit: depositAddressOn([order.from.network, order.from.coin], String(number)),
      depositMemo: order.from.hasMemo && !this.forgetsMemos ? String(1_000 + number) : null,
      createdAt: new Date(),
      hashIn: null,
      hashOut: null,
    }
    this.swaps.push(swap)
    return swap
  }

  find(id: unknown): Swap {
    const found = this.swaps.find((swap) => swap.id === id)
    if (!found) throw new Refused('unknownId')
    return found
  }

  received(operation: Operation): readonly Received[] {
    return this.calls.filter((call) => call.operation === operation).map(({ received }) => received)
  }
}

export interface RunningExchange extends Exchange {
  readonly url: string
  readonly end: () => Promise<void>
}

/** `firstNumber`: two that run at once give no deposit address twice if theirs are far from each other. */
export async function startExchange(dialect: Dialect, firstNumber = 0): Promise<RunningExchange> {
  const exchange = new Exchange(dialect, firstNumber)
  const server = await standIn((received) => respond(exchange, received))
  return Object.assign(exchange, { url: server.url, end: server.close })
}

function respond(exchange: Exchange, received: Received): Reply {
  const { dialect, calls, swaps } = exchange
  const operation = dialect.operationOf(received)
  if (!operation) {
    calls.push({ operation: 'other', received, at: Date.now(), refused: 'path' })
    return { status: 404, json: { message: 'Cannot find it' } }
  }
  const before = swaps.length
  const losesAction = isAction(operation) ? exchange.losesNextAction : undefined
  if (losesAction) exchange.losesNextAction = undefined
  if (losesAction === 'before') {
    calls.push({ operation, received, at: Date.now() })
    return { reset: true }
  }
  try {
    const reply = dialect.reply(operation, received, exchange)
    calls.push({ operation, received, at: Date.now(), applied: swaps[before]?.id })
    if (losesAction === 'after') return { reset: true }
    if (operation === 'create' && exchange.losesNextCreate) {
      exchange.losesNextCreate = false
      return { reset: true }
    }
    return { ...(exchange.tamper(operation, reply) ?? reply), delay: exchange.delays[operation] ?? 0 }
  } catch (reason) {
    if (!(reason instanceof Refused)) throw reason
    calls.push({ operation, received, at: Date.now(), refused: reason.why })
    return dialect.refuse(reason, operation, received, exchange)
  }
}

const actions: readonly Operation[] = ['refund', 'continue', 'refundAddress'] satisfies readonly Action[]

function isAction(operation: Operation): boolean {
  return actions.includes(operation)
}
