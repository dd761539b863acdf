/** The streams of a gateway's clients: from which row each begins, and what it has of each row (docs/contract.md §18.2). */

import { budgetPart } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import type { EventFeed, EventFeeds, StreamEvent } from '../../domain/event-stream.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { AccountLimits } from '../../domain/key-access.ts'
import { piece } from '../../domain/processor-time.ts'
import { type Context, ownerOf, type SwapService } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import { formatTransactionId, parseTransactionId, type Transaction } from '../../domain/swap.ts'
import type { LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import type { EventRange, EventStore, TransactionEvent } from '../ports/transaction-events.ts'
import { withAttention } from '../transactions/derive-fields.ts'
import { presented } from '../transactions/merge-transaction.ts'
import { differsVisibly, withoutDeposit } from '../visible-state.ts'
import type { EventHub, Listener } from './event-hub.ts'

interface EventFeedsOptions {
  readonly service: SwapService
  /** Its failures are faults. */
  readonly events: Pick<EventStore, 'ofOwner' | 'ofTransaction' | 'rangeOfOwner' | 'rangeOfTransaction' | 'newest'>
  readonly hub: EventHub
  /** Whether an account owns what its keys create. */
  readonly isManaged: boolean
  /** Streams of one identity at a time: `limits.streams`, or that of its account. */
  readonly maxStreamsOf: (own: AccountLimits | undefined) => number
  /** Whether the caller's key is still good. */
  readonly isAllowed: (context: Context) => Promise<boolean>
}

const retryAfter = 5

export function eventFeeds(options: EventFeedsOptions): EventFeeds {
  const { service, events, hub, isManaged } = options
  return {
    watchTransaction(request, context, lastEventId) {
      return opened(context, options, async (open) => {
        const owner = ownerOf(context)
        const { tag, id } = parseTransactionId(request.id)
        // Known before the get, so that no change of it is missed.
        const subscription = open(tag === undefined ? undefined : formatTransactionId(tag, id))
        const { body, provider = tag } = await service.call('getTransaction', request, context)
        if (provider === undefined) throw new Fault('internal', 'A transaction has no provider.')
        const { event, entry } = await events.newest(owner, provider, id)
        const range = await events.rangeOfTransaction(owner, provider, id)
        const seen = seenNumber(lastEventId, range)
        const show = (of: LedgerEntry, isPayable: boolean, number: number | undefined): StreamEvent =>
          shown(of, isPayable, request.id, number, context)
        // What the ledger has without a row.
        const unnumbered = (): readonly StreamEvent[] =>
          entry ? [show(entry, true, undefined)] : event ? [] : [{ event: 'transaction', id: undefined, body }]
        if (seen !== undefined && !entry && seen === event?.transactionNumber && event.isFinal) return 'seen'
        const first = seen === undefined && event && !entry ? [show(event.entry, event.isPayable, event.transactionNumber)] : []
        return subscription.begin({
          provider,
          watched: { owner, provider, id },
          unstored: event || entry ? undefined : body,
          readWithKey: isManaged ? undefined : () => service.call('getTransaction', request, unrequested(context)),
          first: [...gapBefore(lastEventId, range), ...first, ...(seen === undefined || seen >= range.last ? unnumbered() : [])],
          cursor: seen ?? Math.max(event?.transactionNumber ?? 0, range.base ?? 0),
          isOver: entry ? isEnd(entry) : (event?.isFinal ?? isFinal(body.status)),
          read: (after) => events.ofTransaction(owner, provider, id, after, maxAtOnce),
          numberOf: ({ transactionNumber }) => transactionNumber,
          show,
        })
      })
    },
    ...(isManaged && {
      watchTransactions(context, lastEventId) {
        return opened(context, options, async (open) => {
          const owner = ownerOf(context)
          const subscription = open(undefined)
          // What there is now is not sent.
          await hub.numberNow()
          const range = await events.rangeOfOwner(owner)
          // A row that has no number yet gets a higher one.
          const now = Math.max(range.last, range.base ?? 0)
          const told = numberIn(lastEventId) === now ? now : seenNumber(lastEventId, range)
          // The last rows may have gone with their swaps, while older ones are kept.
          const isEmpty = told !== undefined && told < range.last && (await events.ofOwner(owner, told, 1)).length === 0
          const seen = isEmpty ? undefined : told
          const missing: readonly StreamEvent[] = isEmpty ? [{ event: 'gap' }] : gapBefore(lastEventId, range)
          return subscription.begin({
            watched: 'all of its owner',
            unstored: undefined,
            readWithKey: undefined,
            first: seen === undefined ? [...missing, { event: 'position', id: now }] : seen === now ? [] : missing,
            cursor: seen ?? now,
            isOver: undefined,
            read: (after) => events.ofOwner(owner, after, maxAtOnce),
            numberOf: ({ number = 0 }) => number,
            show: (of, isPayable, number) =>
              shown(of, isPayable, formatTransactionId(of.provider, of.transaction.id), number, context),
          })
        })
      },
    }),
  }
}

/** The request is over, but for its caller. */
function unrequested({ requestId, caller, clientCapabilities }: Context): Context {
  const context: Context = { requestId, caller, clientCapabilities, deadline: Number.POSITIVE_INFINITY }
  return withValue(context, budgetPart, 'unrequested')
}

function unnoted(transaction: Transaction): TransactionRecord {
  return { transaction, derived: [], reportedAt: 0 }
}

function isEnd({ transaction: { status }, settledAt }: LedgerEntry): boolean {
  return isFinal(status) || settledAt !== undefined
}

/** As a get returned it then, but for what can be done about the swap, and without a deposit address that may not be paid any more. */
function shown(entry: LedgerEntry, isPayable: boolean, id: string, number: number | undefined, context: Context): StreamEvent {
  const then = withAttention(presented(entry, context).body, entry.ownerAttention)
  const body = isPayable ? then : withoutDeposit(then)
  return { event: 'transaction', id: number, body: { ...body, id } }
}

/** Undefined for what is no number of this stream. 0 is before the first. */
function seenNumber(lastEventId: string | undefined, { last }: EventRange): number | undefined {
  const number = numberIn(lastEventId)
  return number !== undefined && number <= last ? number : undefined
}

function numberIn(lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(lastEventId) ? Number(lastEventId) : undefined
}

/** Of a restored ledger a number above the last one was told before the restore: nobody knows what came with it. */
function gapBefore(lastEventId: string | undefined, { oldest, last, base }: EventRange): readonly StreamEvent[] {
  const number = numberIn(lastEventId)
  if (number === undefined) return []
  if (number > last) return base === undefined ? [] : [{ event: 'gap' }]
  const isMissed = oldest === undefined ? number < last : number + 1 < oldest
  return isMissed ? [{ event: 'gap' }] : []
}

/** Takes the place of the stream, and gives it back where it does not begin. */
async function opened<Result extends EventFeed | 'seen'>(
  context: Context,
  { hub, maxStreamsOf, isAllowed }: EventFeedsOptions,
  begin: (open: (transaction: string | undefined) => Subscription) => Promise<Result>,
): Promise<Result> {
  const owner = ownerOf(context)
  const max = maxStreamsOf(context.caller.limits)
  const giveBack = await hub.take(owner, max)
  if (hub.hasEnded) {
    giveBack?.()
    throw standardFault('unavailable', { reason: 'stopping', retryAfter: 1 })
  }
  if (!giveBack) throw new Fault('limited', `Too many streams: the limit is ${max} at a time; please close one.`, { retryAfter })
  const subscription = new Subscription(hub, owner, giveBack, () => isAllowed(context))
  try {
    const feed = await begin((transaction) => subscription.listen(transaction))
    if (feed === 'seen') subscription.close()
    return feed
  } catch (reason) {
    subscription.close()
    throw reason
  }
}

/** Rows that are read for one stream at a time: what a slow reader keeps in memory. */
const maxAtOnce = 16
const retryReadMs = 1_000
/** For how long a key counts as good after it was checked. */
const confirmedForMs = 5_000

interface Beginning extends Pick<Listener, 'watched' | 'readWithKey'> {
  readonly provider?: string
  /** As a get returned it, if the ledger does not have it yet, or has it for another key. */
  readonly unstored: Transaction | undefined
  /** Before the rows. */
  readonly first: readonly StreamEvent[]
  /** The number of the last row that the client has, or gets in `first`. */
  readonly cursor: number
  /** Whether nothing is expected after that; undefined: it never ends by itself. */
  readonly isOver: boolean | undefined
  readonly read: (after: number) => Promise<readonly TransactionEvent[]>
  readonly numberOf: (event: TransactionEvent) => number
  readonly show: (entry: LedgerEntry, isPayable: boolean, number: number) => StreamEvent
}

class Subscription implements Listener, EventFeed {
  readonly owner: string
  transaction: string | undefined
  watched: Listener['watched']
  readWithKey: Listener['readWithKey']
  readonly isAllowed: () => Promise<boolean>
  private readonly hub: EventHub
  private readonly giveBack: () => void
  private unfollow = (): void => {}
  private beginning: Beginning | undefined
  private cursor = 0
  /** Of what is missing behind the cursor. */
  private isGapTold = false
  private isOver: boolean | undefined
  private unstored: Transaction | undefined
  /** Of what is unstored: the newest state that was not sent. */
  private changed: Transaction | undefined
  private hasNews = true
  private isEnded = false
  private confirmedAt = performance.now()
  private waiting: (() => void) | undefined

  constructor(hub: EventHub, owner: string, giveBack: () => void, isAllowed: () => Promise<boolean>) {
    this.hub = hub
    this.owner = owner
    this.giveBack = giveBack
    this.isAllowed = isAllowed
  }

  listen(transaction: string | undefined): this {
    this.transaction = transaction
    this.unfollow = this.hub.follow(this)
    return this
  }

  begin(beginning: Beginning): this {
    this.beginning = beginning
    this.cursor = beginning.cursor
    this.isGapTold = beginning.first.some(({ event }) => event === 'gap')
    this.isOver = beginning.isOver
    this.unstored = beginning.unstored
    this.watched = beginning.watched
    this.readWithKey = beginning.readWithKey
    if (!this.isOver) this.hub.watch([this])
    return this
  }

  get provider(): string | undefined {
    return this.beginning?.provider
  }

  /** Changes of what the ledger has for another key come without numbers. */
  get found(): Listener['found'] {
    const { unstored } = this
    if (unstored === undefined) return undefined
    return (transaction) => {
      if (!differsVisibly(unnoted(unstored), unnoted(transaction))) return
      this.unstored = transaction
      this.changed = { ...transaction, id: unstored.id }
      this.wake()
    }
  }

  wake(): void {
    this.hasNews = true
    this.waiting?.()
  }

  confirm(): void {
    this.confirmedAt = performance.now()
  }

  /** As a whole response: what was written before it is read. */
  end(): void {
    this.close()
  }

  close(): void {
    this.isEnded = true
    this.unfollow()
    this.giveBack()
    this.waiting?.()
  }

  async next(): Promise<readonly StreamEvent[] | undefined> {
    const { beginning } = this
    if (beginning === undefined || this.isEnded) return undefined
    if (beginning.first.length > 0) {
      this.beginning = { ...beginning, first: [] }
      return beginning.first
    }
    while (!this.isEnded) {
      if (!this.hasNews) await this.news()
      await this.hub.turnToRead(this.owner)
      if (this.isEnded) break
      this.hasNews = false
      const events = await beginning.read(this.cursor).catch(() => undefined)
      if (this.isEnded) break
      if (!events || performance.now() - this.confirmedAt >= confirmedForMs) {
        await this.news(retryReadMs)
        this.hasNews = true
        continue
      }
      this.hub.countRead(this.owner, events.length)
      const last = events.at(-1)
      if (!last) {
        const { changed: body } = this
        if (body) {
          this.changed = undefined
          this.hasNews = true
          this.isOver = isFinal(body.status)
          return [{ event: 'transaction', id: undefined, body }]
        }
        if (this.isOver) break
        continue
      }
      this.hasNews = true
      if (this.isOver !== undefined) this.isOver = last.isFinal
      if (this.unstored && !this.isOver) this.hub.watch([this])
      this.unstored = undefined
      this.changed = undefined
      return piece(() => events.flatMap((event) => this.shown(event, beginning)))
    }
    this.close()
    return undefined
  }

  /** With a gap before it, if rows that the client has not seen are not kept any more. */
  private shown(event: TransactionEvent, { numberOf, show }: Beginning): readonly StreamEvent[] {
    const number = numberOf(event)
    const isMissed = number !== this.cursor + 1 && !this.isGapTold
    this.cursor = number
    this.isGapTold = false
    return [...(isMissed ? [{ event: 'gap' } as const] : []), show(event.entry, event.isPayable, number)]
  }

  private async news(maxMs?: number): Promise<void> {
    if (this.isEnded) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = maxMs === undefined ? undefined : setTimeout(resolve, maxMs).unref()
    this.waiting = resolve
    await promise
    this.waiting = undefined
    clearTimeout(timer)
  }
}
