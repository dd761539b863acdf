/** The event stream of the operator's API. One poll of the ledger every two seconds serves all listeners (docs/contract-operators.md §15). */
import type { Response } from 'express'
import { providerStatus } from '../core/operations/provider-status.ts'
import { Fault } from '../domain/fault.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { type OperatorLocals, type Route, route } from './route.ts'
import type { OperatorParts } from './stores.ts'
import type { TokenCheck } from './tokens.ts'

interface EventStreams {
  readonly feed: Pick<EventFeed, 'subscribe'>
  readonly tokens: Pick<TokenCheck, 'isValid'>
  /** Aborted when the process begins to stop: ends every stream. */
  readonly stopping: AbortSignal
}

export function eventRoute(streams: EventStreams): Route {
  return route({
    method: 'get',
    path: '/api/events',
    summary: 'Server-sent events `provider`, `overrides` and `unresolved`: what is so now, then each change.',
    handle(_, response) {
      // Proxies like nginx would keep events back until they have many.
      response.set('x-accel-buffering', 'no').type('text/event-stream')
      if (response.req.method === 'HEAD') response.end()
      else stream(response, streams)
      return undefined
    },
  })
}

const commentIntervalMs = 15_000
const tokenCheckIntervalMs = 1_000
/** A listener that does not read is cut off. */
const maxUnsentBytes = 1_048_576

function stream(response: Response, { feed, tokens, stopping }: EventStreams): void {
  const send = (text: string): void => {
    if (response.writableEnded || response.destroyed) return
    response.write(text)
    if (response.writableLength > maxUnsentBytes) response.destroy()
  }
  const head = (): void => {
    if (!response.headersSent) response.status(200).flushHeaders()
  }
  const { actor, roles, shown } = response.locals as OperatorLocals
  const isValid = (): boolean => tokens.isValid(response.req.headers.authorization ?? '', roles)
  const unsubscribe = feed.subscribe(actor, ({ event, data }) => {
    if (!isValid()) return void response.destroy()
    head()
    send(`event: ${event}\ndata: ${shown(data)}\n\n`)
  })
  if (!unsubscribe) throw new Fault('limited', 'Too many listen already; please close another page.', { retryAfter: 15 })
  head()
  const comments = setInterval(() => send(': still here\n\n'), commentIntervalMs)
  const checks = setInterval(() => {
    if (isValid()) return
    // What waits to be sent is not for this listener any more.
    if (response.writableLength > 0) response.destroy()
    else response.end()
  }, tokenCheckIntervalMs)
  const end = (): void => void response.end()
  stopping.addEventListener('abort', end)
  if (stopping.aborted) end()
  response.once('close', () => {
    unsubscribe()
    clearInterval(comments)
    clearInterval(checks)
    stopping.removeEventListener('abort', end)
  })
}

interface OperatorEvent {
  /** `provider`, `overrides` or `unresolved`. */
  readonly event: string
  /** JSON. */
  readonly data: string
}

type Listener = (event: OperatorEvent) => void

const intervalMs = 2_000
const maxListeners = 20
const maxListenersOfToken = 5
/** Of each list in an event; its count is of all. */
const maxNamed = 100

export class EventFeed {
  private readonly parts: OperatorParts
  /** Each with the name of its token. */
  private readonly listeners = new Map<Listener, string>()
  private current: ReadonlyMap<string, OperatorEvent> = new Map()
  private timer: NodeJS.Timeout | undefined
  private isLooking = false
  /** When the last look began, on the clock of `performance.now()`. */
  private lookedAt = Number.NEGATIVE_INFINITY

  constructor(parts: OperatorParts) {
    this.parts = parts
  }

  /** Sends the current state, then every change. Returns a function that unsubscribes; undefined if there are too many listeners. */
  subscribe(token: string, listener: Listener): (() => void) | undefined {
    if (!this.hasPlace(token)) return undefined
    this.listeners.set(listener, token)
    // While nobody listened nothing was looked at. Listeners that come and go cause no more looks than those that stay.
    const isOld = performance.now() - this.lookedAt >= intervalMs
    if (isOld && this.timer === undefined) this.current = new Map()
    for (const event of this.current.values()) listener(event)
    this.timer ??= setInterval(() => void this.look(), intervalMs).unref()
    if (isOld) void this.look()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.stopPolling()
    }
  }

  /** A token always has a place, whatever others take. */
  private hasPlace(token: string): boolean {
    const own = this.listeners
      .values()
      .filter((name) => name === token)
      .toArray().length
    return own === 0 || (own < maxListenersOfToken && this.listeners.size < maxListeners)
  }

  private stopPolling(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** Reports nothing while the ledger is unavailable. */
  private async look(): Promise<void> {
    if (this.isLooking) return
    this.isLooking = true
    this.lookedAt = performance.now()
    const next = await this.snapshot().catch(() => undefined)
    this.isLooking = false
    if (!next) return
    const changed = [...next].filter(([key, { data }]) => this.current.get(key)?.data !== data)
    this.current = next
    for (const [, event] of changed) for (const listener of this.listeners.keys()) listener(event)
  }

  private async snapshot(): Promise<ReadonlyMap<string, OperatorEvent>> {
    const { stores, file } = this.parts
    const [{ providers, overrides }, unresolved, count, needPerson] = await Promise.all([
      providerStatus(file(), stores),
      stores.ledgerAdmin.unresolved(undefined, maxNamed),
      stores.ledgerAdmin.unresolvedCount(),
      stores.ledgerAdmin.needPerson(maxNamed),
    ])
    const events = new Map<string, OperatorEvent>()
    const add = (key: string, event: string, data: unknown): void => void events.set(key, { event, data: JSON.stringify(data) })
    for (const { live, ...provider } of providers) {
      add(`provider ${provider.tag}`, 'provider', { ...provider, breaker: live?.breaker ?? null })
    }
    add('overrides', 'overrides', overrides)
    const intents = unresolved.map(({ intent, provider, state }) => ({ intent, provider, state }))
    const transactions = needPerson.map(({ entry: { provider, transaction } }) => ({
      id: formatTransactionId(provider, transaction.id),
      attention: transaction.attention,
    }))
    add('unresolved', 'unresolved', {
      count,
      creates: intents,
      transactions,
    })
    return events
  }
}
