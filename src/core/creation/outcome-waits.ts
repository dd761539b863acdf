/**
 * Repeats of a create that wait for its outcome, if their clients prefer that (docs/contract.md §10.1). Whichever process finds it, the ledger
 * tells: those that wait under one key share their looks into it, and one timer.
 */
import { withDefault } from '../../domain/async.ts'
import type { PreferredWait } from '../../domain/call-options.ts'
import type { IdempotencyKeyState, Ledger } from '../ports/ledger.ts'
import { maxLedgerWaitMs } from '../sent-once.ts'

const lookEveryMs = 250
/** Of one identity, and of all. */
const maxWaitsOfOwner = 20
const maxWaits = 100

type Open = Extract<IdempotencyKeyState, { readonly state: 'open' }>
/** Undefined: the key is free. */
type KeyState = IdempotencyKeyState | undefined

interface Waiting {
  /** On the clock of `performance.now()`. */
  readonly until: number
  readonly mayWait: () => boolean
  readonly resolve: (state: KeyState) => void
}

export class OutcomeWaits {
  private readonly ledger: Pick<Ledger, 'findIdempotencyKey'>
  private readonly timeoutsMs: ReadonlyMap<string, number>
  /** By owner and key. */
  private readonly waiting = new Map<string, Set<Waiting>>()
  private readonly countOf = new Map<string, number>()
  private count = 0

  /** `timeoutsMs`: of the providers, by tag; no wait is longer. */
  constructor(ledger: Pick<Ledger, 'findIdempotencyKey'>, timeoutsMs: ReadonlyMap<string, number>) {
    this.ledger = ledger
    this.timeoutsMs = timeoutsMs
  }

  /**
   * The newest state of the key: once it is open no more, no look can end it in time, the wait is over, or its client is gone. At once, and
   * the preference is not applied, if no look can end it in time, or too many wait.
   */
  async newest(owner: string, key: string, open: Open, wait: PreferredWait | undefined): Promise<KeyState> {
    const until = performance.now() + Math.min((wait?.seconds ?? 0) * 1_000, this.timeoutsMs.get(open.provider) ?? 0)
    const ownCount = this.countOf.get(owner) ?? 0
    if (!wait || !mayEndBy(open, until) || ownCount >= maxWaitsOfOwner || this.count >= maxWaits) return open
    wait.isApplied = true
    this.countOf.set(owner, ownCount + 1)
    this.count++
    try {
      return await new Promise<KeyState>((resolve) => this.add(owner, key, open, { until, mayWait: wait.mayWait, resolve }))
    } finally {
      this.count--
      const left = (this.countOf.get(owner) ?? 0) - 1
      if (left > 0) this.countOf.set(owner, left)
      else this.countOf.delete(owner)
    }
  }

  private add(owner: string, key: string, open: Open, one: Waiting): void {
    const name = JSON.stringify([owner, key])
    const known = this.waiting.get(name)
    if (known) return void known.add(one)
    const waiting = new Set([one])
    this.waiting.set(name, waiting)
    void this.look(owner, key, open, waiting, () => this.waiting.delete(name))
  }

  /** Until nobody waits: then `end` is called at once, or who comes next would be forgotten. Never rejects: while the ledger fails, what is known stays. */
  private async look(owner: string, key: string, open: Open, waiting: Set<Waiting>, end: () => void): Promise<void> {
    let state: KeyState = open
    while (waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
      state = await withDefault<KeyState, KeyState>(this.ledger.findIdempotencyKey(owner, key), maxLedgerWaitMs, state)
      for (const one of waiting) {
        if (state?.state === 'open' && one.mayWait() && mayEndBy(state, one.until)) continue
        waiting.delete(one)
        one.resolve(state)
      }
    }
    end()
  }
}

/** Whether what runs, or the next look at the provider's list, may tell the outcome by then. */
function mayEndBy({ isRunning, isBeingChecked, nextCheckAt, isTakenBack }: Open, until: number): boolean {
  const leftMs = until - performance.now()
  if (isTakenBack || leftMs <= 0) return false
  return isRunning || isBeingChecked || (nextCheckAt !== undefined && nextCheckAt - Date.now() < leftMs)
}
