import { DepositInUse } from '../domain/fault.ts'
import type { Transaction } from '../domain/swap.ts'
import type { JudgedAsset, MismatchStreak } from './mismatch-streaks.ts'
import type { Intent, LedgerChanges, TransactionRecord } from './ports/ledger.ts'

/** What becomes of a create or a swap, and what its listeners are told. */
interface Transitions {
  readonly begun: [intent: Intent]
  /** Its process waits for nothing more: the ledger has taken its outcome, or has failed to. Told before the outcome. */
  readonly ended: [intent: string]
  readonly done: [intent: string, result: Transaction, judged: readonly JudgedAsset[]]
  readonly unknown: [intent: string]
  /** By reconciliation. */
  readonly found: [intent: string, result: Transaction]
  /** `suspended`: what begins with it. */
  readonly mismatched: [intent: string, fields: readonly string[], suspended: readonly MismatchStreak[]]
  /** By a report that this process has stored. */
  readonly changed: [provider: string, before: Transaction, after: Transaction]
}

type Listeners = { readonly [Name in keyof Transitions]: ((...told: Transitions[Name]) => void)[] }

/** Tells what the ledger has stored, before the caller goes on. Who listens, and in which order, is in `gatewayScope`. */
export class Journal {
  private readonly listeners: Listeners = { begun: [], ended: [], done: [], unknown: [], found: [], mismatched: [], changed: [] }

  on<Name extends keyof Transitions>(name: Name, listener: (...told: Transitions[Name]) => void): void {
    this.listeners[name].push(listener)
  }

  /** The changes of this ledger, which are told. `hasAttention`: whether a result may need a person here; else it is stored without. */
  changesOf(ledger: LedgerChanges, hasAttention: boolean): LedgerChanges {
    const stored = (record: TransactionRecord): TransactionRecord =>
      hasAttention ? record : { ...record, transaction: { ...record.transaction, attention: undefined } }
    return {
      begin: async (intent, isAwaited) => {
        const isBegun = await ledger.begin(intent, isAwaited)
        if (isBegun) this.tell('begun', intent)
        return isBegun
      },
      drop: (intent, checkAt) => this.ending(intent, ledger.drop(intent, checkAt)),
      markUnknown: async (intent, nextCheckAt, reason) => {
        await this.ending(intent, ledger.markUnknown(intent, nextCheckAt, reason))
        this.tell('unknown', intent)
      },
      complete: async (intent, record, judged = [], deposit) => {
        const isDone = await this.ending(intent, ledger.complete(intent, stored(record), judged, deposit))
        if (isDone) this.tell('done', intent, record.transaction, judged)
        else this.tell('mismatched', intent, ['id'], [])
        return isDone
      },
      bindFound: async (intent, record, deposit) => {
        const isBound = await this.ending(intent, ledger.bindFound(intent, stored(record), deposit))
        if (isBound) this.tell('found', intent, record.transaction)
        return isBound
      },
      markMismatch: async (intent, reported, fields, judged) => {
        const suspended = await this.ending(intent, ledger.markMismatch(intent, reported, fields, judged))
        this.tell('mismatched', intent, fields, suspended)
        return suspended
      },
      upsert: async (owner, provider, record, before) => {
        const after = await ledger.upsert(owner, provider, record, before)
        const isOwn = after?.sequence === record.sequence // else it is another process's change
        if (before && after && isOwn) this.tell('changed', provider, before.transaction, after.transaction)
        return after
      },
    }
  }

  /** A result whose deposit address another swap has is stored once more: it has not ended. */
  private ending<T>(intent: string, change: Promise<T>): Promise<T> {
    const end = (): void => this.tell('ended', intent)
    change.then(end, (reason) => reason instanceof DepositInUse || end())
    return change
  }

  private tell<Name extends keyof Transitions>(name: Name, ...told: Transitions[Name]): void {
    for (const listener of this.listeners[name]) listener(...told)
  }
}

/** The creates that this process has begun and not ended, for a person who ends the process. */
export class CreatesInFlight {
  private readonly begun = new Map<string, string>()

  /** The provider's tag and the intent of each. */
  list(): readonly string[] {
    return [...this.begun].map(([intent, provider]) => `${provider} ${intent}`)
  }

  listen(journal: Journal): void {
    journal.on('begun', ({ id, provider }) => this.begun.set(id, provider))
    journal.on('ended', (intent) => this.begun.delete(intent))
  }
}
