/** What became of creates where the ledger could not take it at once: kept in memory until it can (docs/contract.md §10.4). */

import { LedgerConflict, UncertainChange } from '../../domain/faults/ledger-error.ts'
import { singleFlight } from '../../domain/single-flight.ts'
import type { CreateOutcome, Observer } from '../../domain/telemetry/observation.ts'
import { withTimeout } from '../../domain/with-timeout.ts'
import type { Intent, Ledger } from '../ledger.ts'

export interface DeferredResultsOptions {
  readonly observe: Observer
  /** Results that are kept at most; those beyond are left to reconciliation. */
  readonly maxResults?: number
  /** How soon the ledger is tried again, and how late at most after many failures: milliseconds. */
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
}

interface Deferred {
  readonly provider: string
  readonly write: () => Promise<unknown>
  attempts: number
}

/** After so many failures a result lets those behind it go first. */
const maxAttempts = 5
/** How long the end of the process waits for the ledger, in milliseconds. */
const closeTimeoutMs = 2_000

export class DeferredResults {
  private readonly options: Required<DeferredResultsOptions>
  /** By intent, the oldest first. */
  private readonly pending = new Map<string, Deferred>()
  /** Intents whose result is being written by the request that has it. */
  private readonly recording = new Set<string>()
  private pauseMs: number
  private timer: NodeJS.Timeout | undefined
  private readonly flushing = singleFlight(() => this.writeAll())
  private isClosed = false

  constructor(options: DeferredResultsOptions) {
    this.options = { maxResults: 1_000, firstPauseMs: 100, maxPauseMs: 5_000, ...options }
    this.pauseMs = this.options.firstPauseMs
  }

  /** The same ledger for creates at one provider: a result that it cannot take still fails, and is written later. */
  wrap(ledger: Ledger, provider: string): Ledger {
    const record = <T>(intent: string, write: () => Promise<T>): Promise<T> => this.record(intent, provider, write)
    return {
      ...ledger,
      begin: (intent) =>
        ledger.begin(intent).catch((reason) => {
          // Nothing goes up now: if it did begin, its key is to be free again.
          if (isCausedBy(reason, UncertainChange)) this.defer(intent.id, provider, () => withdraw(ledger, intent))
          throw reason
        }),
      complete: (intent, transactionRecord) => record(intent, () => ledger.complete(intent, transactionRecord)),
      markMismatch: (intent, reported, fields) => record(intent, () => ledger.markMismatch(intent, reported, fields)),
      drop: (intent) => record(intent, () => ledger.drop(intent)),
    }
  }

  /** The same ledger for reconciliation: what this process knows is not looked for. */
  withoutDeferred(ledger: Ledger): Ledger {
    const isDeferred = (intent: string): boolean => this.pending.has(intent) || this.recording.has(intent)
    return {
      ...ledger,
      dueCreates: async (...query) => (await ledger.dueCreates(...query)).filter(({ intent }) => !isDeferred(intent)),
    }
  }

  /** Tries once more. What is left then is found by reconciliation after the next start. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await withTimeout(this.flushing.run(), closeTimeoutMs, () => {})
    for (const { provider } of this.pending.values()) this.count(provider, 'abandoned')
    this.pending.clear()
    this.tellHeld()
  }

  private async record<T>(intent: string, provider: string, write: () => Promise<T>): Promise<T> {
    this.recording.add(intent)
    try {
      return await write()
    } catch (reason) {
      if (isCausedBy(reason, LedgerConflict)) this.count(provider, 'conflicting')
      else this.defer(intent, provider, write)
      throw reason
    } finally {
      this.recording.delete(intent)
    }
  }

  private defer(intent: string, provider: string, write: () => Promise<unknown>): void {
    const isFull = this.pending.size >= this.options.maxResults
    this.count(provider, isFull ? 'abandoned' : 'unrecorded')
    if (isFull) return
    this.pending.set(intent, { provider, write, attempts: 0 })
    this.tellHeld()
    this.flushLater()
  }

  private flushLater(): void {
    if (this.timer !== undefined || this.isClosed) return
    this.timer = setTimeout(() => {
      void this.flushing.run().finally(() => {
        this.timer = undefined
        if (this.pending.size > 0) this.flushLater()
      })
    }, this.pauseMs)
    this.timer.unref()
  }

  /** One after another, until one fails. */
  private async writeAll(): Promise<void> {
    for (const [intent, deferred] of this.pending) {
      try {
        await deferred.write()
        this.finish(intent, deferred, 'recorded')
        this.pauseMs = this.options.firstPauseMs
      } catch (reason) {
        if (isCausedBy(reason, LedgerConflict)) this.finish(intent, deferred, 'conflicting')
        else return this.fail(intent, deferred)
      }
    }
  }

  private finish(intent: string, { provider }: Deferred, outcome: CreateOutcome): void {
    this.pending.delete(intent)
    this.tellHeld()
    this.count(provider, outcome)
  }

  private fail(intent: string, deferred: Deferred): void {
    this.pauseMs = Math.min(2 * this.pauseMs, this.options.maxPauseMs)
    deferred.attempts++
    if (deferred.attempts < maxAttempts) return
    this.pending.delete(intent)
    this.pending.set(intent, { ...deferred, attempts: 0 })
  }

  private tellHeld(): void {
    this.options.observe({ what: 'resultsHeld', count: this.pending.size })
  }

  private count(provider: string, outcome: CreateOutcome): void {
    this.options.observe({ what: 'create', provider, outcome })
  }
}

async function withdraw(ledger: Ledger, intent: Intent): Promise<void> {
  if (await ledger.begin(intent)) await ledger.drop(intent.id)
}

/** The reason itself or what is behind it. */
function isCausedBy(reason: unknown, type: typeof LedgerConflict | typeof UncertainChange): boolean {
  return reason instanceof type || (reason instanceof Error && isCausedBy(reason.cause, type))
}
