/**
 * Notes the reads of swaps that failed, for the person who asks why a swap does not move (docs/operating.md#a-swap-that-cannot-be-read).
 * One event for each swap, which is written in the background: after its first failure, then at most each minute; and at most a hundred in
 * a second, however many swaps a silent provider has.
 */
import { withDefault } from '../domain/async.ts'
import { callOutcomeOf, type Fault, failureCauseOf, faultTable, isHeldBack } from '../domain/fault.ts'
import { snakeCase } from '../domain/observation.ts'
import { formatTransactionId } from '../domain/swap.ts'
import type { FailedReadsEvent } from '../domain/timeline.ts'

/** `tries`: since the last row of this swap. */
export interface FailedReadsRow extends FailedReadsEvent {
  readonly provider: string
  readonly id: string
}

/** Port: the ledger's. What belongs to no create of the ledger is left out. */
export interface FailedReadStore {
  readonly note: (rows: readonly FailedReadsRow[]) => Promise<void>
}

const writePauseMs = 1_000
const maxPauseMs = 10_000
const rewritePauseMs = 60_000
const maxRowsPerWrite = 100
/** Beyond that the first one is forgotten here. */
const maxSwaps = 10_000
const closeTimeoutMs = 1_000

/** Of a swap, since its last read that did not fail. */
interface Failures {
  /** `tries`: those that are not written. */
  row: FailedReadsRow
  isWritten: boolean
  /** On the monotonic clock. */
  writtenAt: number
}

export class FailedReads {
  private readonly store: FailedReadStore
  /** Who was written the longest ago comes first, so that each has its turn. */
  private readonly swaps = new Map<string, Failures>()
  private pauseMs = writePauseMs
  private timer: NodeJS.Timeout | undefined

  constructor(store: FailedReadStore) {
    this.store = store
  }

  note(provider: string, id: string, fault: Fault): void {
    const name = formatTransactionId(provider, id)
    const at = Date.now()
    const begun = { row: { since: at, tries: 0 }, writtenAt: Number.NEGATIVE_INFINITY }
    const { row, writtenAt } = this.swaps.get(name) ?? begun
    const tries = row.tries + (isHeldBack(fault) ? 0 : 1)
    const failed = { event: 'reads_failed', since: row.since, at, tries, ...outcomeOfRead(fault), owner: ownerGets(fault) } as const
    this.swaps.set(name, { row: { provider, id, ...failed }, isWritten: false, writtenAt })
    if (this.swaps.size > maxSwaps) this.swaps.delete(this.swaps.keys().next().value ?? '')
    this.timer ??= setTimeout(() => void this.writeDue(), this.pauseMs).unref()
  }

  /** The swap was read. Returns whether its read before had failed. */
  end(provider: string, id: string): boolean {
    return this.swaps.size > 0 && this.swaps.delete(formatTransactionId(provider, id))
  }

  /** Writes what waits, if the ledger takes it in time. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    const waiting = this.waiting().toArray()
    const writeAll = async (): Promise<void> => {
      while (waiting.length > 0) await this.write(waiting.splice(0, maxRowsPerWrite))
    }
    await withDefault(writeAll(), closeTimeoutMs, undefined)
  }

  private waiting(): IteratorObject<Failures> {
    return this.swaps.values().filter(({ isWritten }) => !isWritten)
  }

  private async writeDue(): Promise<void> {
    const due = this.waiting().filter(({ writtenAt }) => performance.now() - writtenAt >= rewritePauseMs)
    try {
      await this.write(due.take(maxRowsPerWrite).toArray())
      this.pauseMs = writePauseMs
    } catch {
      this.pauseMs = Math.min(2 * this.pauseMs, maxPauseMs)
    }
    const hasMore = !this.waiting().next().done
    this.timer = hasMore ? setTimeout(() => void this.writeDue(), this.pauseMs).unref() : undefined
  }

  private async write(all: readonly Failures[]): Promise<void> {
    if (all.length === 0) return
    const rows = all.map(({ row }) => row)
    await this.store.note(rows)
    for (const { provider, id, since, at, tries } of rows) {
      // It may have failed again, or have been read, meanwhile.
      const name = formatTransactionId(provider, id)
      const latest = this.swaps.get(name)
      if (latest?.row.since !== since) continue
      this.swaps.delete(name)
      this.swaps.set(name, latest)
      latest.row = { ...latest.row, tries: latest.row.tries - tries }
      latest.isWritten = latest.row.at === at
      latest.writtenAt = performance.now()
    }
  }
}

/** What became of a read, in the words of the timeline. */
export interface ReadOutcome {
  readonly outcome: string
  /** Why there was no connection or no response that can be read, or what held it back. */
  readonly cause?: string
}

/** What says more than the outcome of the call. */
const answers: Partial<Record<Fault['kind'], string>> = { notFound: 'not_found', contradicted: 'contradicted' }

export function outcomeOfRead(fault: Fault): ReadOutcome {
  const { kind, unavailableCause } = fault
  const outcome = isHeldBack(fault) ? 'held_back' : (answers[kind] ?? snakeCase(callOutcomeOf(fault)))
  const cause = snakeCase(failureCauseOf(fault) ?? unavailableCause ?? '')
  return { outcome, ...(cause !== '' && cause !== outcome && { cause }) }
}

function ownerGets({ kind, refusal }: Fault): FailedReadsEvent['owner'] {
  return faultTable[kind].isStaleServed || refusal === 'forbidden' ? 'last_known' : 'error'
}
