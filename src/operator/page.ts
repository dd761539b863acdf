/** lit-html, served to the browser: the operator's page is templates without a build step, and what the API returns becomes text. */
import { readdirSync, readFileSync } from 'node:fs'
import { providerStatus } from '../core/operations/provider-status.ts'
import { formatTransactionId } from '../domain/swap.ts'
import type { OperatorParts } from './stores.ts'

interface PageFile {
  readonly contentType: string
  readonly body: string
}

const folder = new URL('page/', import.meta.url)
const contentTypes: Readonly<Record<string, string>> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }
/** The export for Node stands in a folder below the one for browsers. */
const library = new URL('../lit-html.js', import.meta.resolve('lit-html'))

/** The files of the operator's page, by path. */
export function operatorPage(): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => name !== 'index.html')
  return new Map([
    ['/', { contentType: 'text/html; charset=utf-8', body: readFileSync(new URL('index.html', folder), 'utf8') }],
    ['/page/lit-html.js', fileOf(library)],
    ...names.map((name) => [`/page/${name}`, fileOf(new URL(name, folder))] as const),
  ])
}

/** Browsers find modules by path only. */
function fileOf(url: URL): PageFile {
  const extension = url.pathname.split('.').at(-1) ?? ''
  const body = readFileSync(url, 'utf8').replaceAll("from 'lit-html'", "from './lit-html.js'")
  return {
    contentType: contentTypes[extension] ?? 'text/plain; charset=utf-8',
    body: body.replace(/^\/\/# sourceMappingURL=.*$/m, ''),
  }
}

// The event stream of the operator's API. One poll of the ledger every two seconds serves all listeners (docs/contract.md §15).

interface OperatorEvent {
  /** `provider`, `overrides` or `unresolved`. */
  readonly event: string
  /** JSON. */
  readonly data: string
}

type Listener = (event: OperatorEvent) => void

const intervalMs = 2_000
const maxListeners = 20
/** Of each list in an event; its count is of all. */
const maxNamed = 100

export class EventFeed {
  private readonly parts: OperatorParts
  private readonly listeners = new Set<Listener>()
  private current: ReadonlyMap<string, OperatorEvent> = new Map()
  private timer: NodeJS.Timeout | undefined
  private isLooking = false

  constructor(parts: OperatorParts) {
    this.parts = parts
  }

  /** Sends the current state, then every change. Returns a function that unsubscribes; undefined if there are too many listeners. */
  subscribe(listener: Listener): (() => void) | undefined {
    if (this.listeners.size >= maxListeners) return undefined
    this.listeners.add(listener)
    for (const event of this.current.values()) listener(event)
    this.timer ??= setInterval(() => void this.look(), intervalMs).unref()
    void this.look()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.stopPolling()
    }
  }

  private stopPolling(): void {
    clearInterval(this.timer)
    this.timer = undefined
    this.current = new Map()
  }

  /** Reports nothing while the ledger is unavailable. */
  private async look(): Promise<void> {
    if (this.isLooking) return
    this.isLooking = true
    const next = await this.snapshot().catch(() => undefined)
    this.isLooking = false
    if (!next || this.listeners.size === 0) return
    const changed = [...next].filter(([key, { data }]) => this.current.get(key)?.data !== data)
    this.current = next
    for (const [, event] of changed) for (const listener of this.listeners) listener(event)
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
