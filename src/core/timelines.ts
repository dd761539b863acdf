/**
 * Writes the timelines of swaps in the background, so that no request waits for it: a second after an event at the latest, many in one
 * statement. A process that is killed takes that second along.
 */
import { withDefault } from '../domain/async.ts'
import type { Observer } from '../domain/observation.ts'
import type { TimelineEvent, TimelineFact } from '../domain/timeline.ts'
import type { Journal } from './journal.ts'

/** A swap by its create, or by its provider and its id there. */
export type SwapKey = { readonly intent: string } | { readonly provider: string; readonly id: string }

export interface TimelineRow {
  readonly key: SwapKey
  readonly events: readonly TimelineEvent[]
}

/** Port: the ledger's. What belongs to no create of the ledger, or to one with too many events, is left out. */
export interface TimelineStore {
  readonly append: (rows: readonly TimelineRow[]) => Promise<void>
}

const flushAfterMs = 500
const maxPauseMs = 10_000
const maxRowsPerWrite = 100
/** Swaps whose events wait. */
const maxWaiting = 10_000
const closeTimeoutMs = 1_000

export class Timelines {
  private readonly store: TimelineStore
  private readonly observe: Observer
  private readonly waiting = new Map<string, TimelineRow>()
  private pauseMs = flushAfterMs
  private timer: NodeJS.Timeout | undefined
  private flushing: Promise<void> | undefined

  constructor(store: TimelineStore, observe: Observer) {
    this.store = store
    this.observe = observe
  }

  /** An event of now. */
  note(key: SwapKey, fact: TimelineFact): void {
    this.add(key, [{ at: Date.now(), ...fact }])
  }

  add(key: SwapKey, events: readonly TimelineEvent[]): void {
    if (events.length === 0) return
    const name = 'intent' in key ? key.intent : `${key.provider}~${key.id}`
    const before = this.waiting.get(name)
    if (!before && this.waiting.size >= maxWaiting) {
      this.observe({ what: 'timelineLost', count: events.length })
      return
    }
    this.waiting.set(name, { key, events: before ? [...before.events, ...events] : events })
    this.timer ??= setTimeout(() => void this.flush(), this.pauseMs).unref()
  }

  listen(journal: Journal): void {
    journal.on('done', (intent, { status }) => this.note({ intent }, { event: 'outcome', outcome: 'done', status }))
    journal.on('unknown', (intent) => this.note({ intent }, { event: 'outcome', outcome: 'unknown' }))
    journal.on('found', (intent, { status }) => this.note({ intent }, { event: 'outcome', outcome: 'found', status }))
    journal.on('mismatched', (intent, fields) => this.note({ intent }, { event: 'outcome', outcome: 'mismatch', fields }))
    journal.on('changed', (provider, was, is) => {
      if (was.status === is.status && was.attention === is.attention) return
      const change = { from: was.status ?? null, to: is.status ?? null, attention: is.attention ?? null }
      this.note({ provider, id: is.id }, { event: 'status', ...change })
    })
  }

  /** Writes what waits, if the ledger takes it in time. */
  async close(): Promise<void> {
    await this.flushing
    await withDefault(this.flush(), closeTimeoutMs, undefined)
    clearTimeout(this.timer)
  }

  private flush(): Promise<void> {
    clearTimeout(this.timer)
    this.flushing ??= this.write().finally(() => {
      this.flushing = undefined
      this.timer = this.waiting.size > 0 ? setTimeout(() => void this.flush(), this.pauseMs).unref() : undefined
    })
    return this.flushing
  }

  private async write(): Promise<void> {
    while (this.waiting.size > 0) {
      const taken = [...this.waiting].slice(0, maxRowsPerWrite)
      for (const [name] of taken) this.waiting.delete(name)
      try {
        await this.store.append(taken.map(([, row]) => row))
        this.pauseMs = flushAfterMs
      } catch {
        this.pauseMs = Math.min(2 * this.pauseMs, maxPauseMs)
        for (const [name, { key, events }] of taken) this.putBack(name, key, events)
        return
      }
    }
  }

  private putBack(name: string, key: SwapKey, events: readonly TimelineEvent[]): void {
    const since = this.waiting.get(name)?.events ?? []
    this.waiting.set(name, { key, events: [...events, ...since] })
  }
}
