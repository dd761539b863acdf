/** Kysely: one interface for reads and writes on both databases. */

import { setImmediate as pause } from 'node:timers/promises'
import type { CompiledQuery, RawBuilder, SqlBool } from 'kysely'
import type { LedgerWaits } from '../core/access/admission.ts'
import type { Intent, TransactionRecord } from '../core/ports/ledger.ts'
import type { LostCommits } from '../domain/observation.ts'
import type { StoreTrouble } from '../domain/store-trouble.ts'
import type { Database, LedgerClock, Write } from './database.ts'
import type { CreateWithoutEntry } from './entry.ts'
import type { FreshReads } from './fresh-reads.ts'
import type { ColumnTypes } from './schema/first-schema.ts'
import type { TurnLimits } from './turns.ts'

/**
 * What locks rows of several transactions in PostgreSQL takes its locks in this order, so that no two wait for each other: the lock
 * `events` (tried, not waited for), the lock `removal` (to give numbers, to remove events, and to remove swaps by age), the first
 * segment of the owner in `page_index`, `transactions` by provider and id, `webhooks` (to claim deliveries, to change or end one),
 * `webhook_queues` by webhook, provider and id, `webhook_deliveries`. SQLite has one writer.
 */
export type LockName = 'schema' | 'overrides' | 'mismatches' | 'events' | 'removal' | 'failedReads'

export interface Store {
  /** For reads. Returns all earlier writes, but where `freshReads` sees that it does not. */
  readonly database: Database
  /** Absent of a file. */
  readonly freshReads?: FreshReads
  readonly write: Write
  /** The same for work that is a single statement. */
  readonly writeOne: Write
  readonly newEvents: NewEvents
  /** Of deliveries to webhooks. */
  readonly newDeliveries: NewEvents
  readonly types: ColumnTypes
  /** Whether the ledger has a step of the schema: what needs it is off until it has, which may be at any time. */
  readonly has: (step: string) => boolean
  /** Reads which steps the ledger has. */
  readonly readSteps: () => Promise<void>
  readonly clock: LedgerClock
  /** The database's clock, in milliseconds since 1970: one time for all rows of a statement. */
  readonly databaseTimeMs: RawBuilder<number>
  /** Milliseconds since the machine started; absent if processes on other machines use the store. */
  readonly uptimeMs?: () => number
  /** `list` comes from `toList`. */
  readonly isIn: (column: string, list: unknown) => RawBuilder<SqlBool>
  /** A table `listed` with the column `value`; `list` comes from `toList`. */
  readonly listed: (list: unknown) => RawBuilder<unknown>
  /** A table `input` with these columns, from the JSON text of a list of objects. */
  readonly recordset: (json: string, columns: Readonly<Record<string, 'text' | 'integer'>>) => RawBuilder<unknown>
  /** Several strings as one parameter. */
  readonly toList: (texts: readonly string[]) => unknown
  /** Differs from an earlier result if anything was committed since. Absent if the store cannot tell, or not faster than it reads. */
  readonly dataVersion?: () => number
  /** How long the first queued read and the first queued write without priority have waited. */
  readonly waits: () => LedgerWaits
  /** Absent without a server. */
  readonly connections?: () => LedgerConnections
  readonly capacity: () => Promise<LedgerCapacity>
  /** How many calls of creates and of reads it takes at a time. */
  readonly turns: TurnLimits
  /** Warnings about settings of the server. */
  readonly warnings: readonly string[]
  /** What is wrong with the server for good: told at the start, and each minute. */
  readonly troubles?: readonly StoreTrouble[]
  /** Why no ledger, or no table, can be made: a line with what to do. */
  readonly obstacles?: { readonly newLedger?: string; readonly newTables?: string }
  /** Whether the server has lost commits since the last call, or since another process asked. */
  readonly findLostCommits: () => Promise<LostCommits | undefined>
  /** In a transaction that finds a change of its own from before: its commit is one that the server confirms, and the earlier one with it. */
  readonly confirmEarlier: (within: Database) => Promise<void>
  /** Tells in time if the server confirms no commit. Absent without a server. */
  readonly tellUnconfirmed?: () => Promise<void>
  /** Takes a lock over all processes until the transaction ends. */
  readonly lock: (within: Database, what: LockName) => Promise<void>
  /** The same without a wait. False if another process has it. */
  readonly tryLock: (within: Database, what: LockName) => Promise<boolean>
  /** The same for an id of a transaction. */
  readonly lockId: (within: Database, id: string) => Promise<void>
  /** Absent if `write` commits what waits together. */
  readonly atOnce?: AtOnce
  readonly close: () => Promise<void>
}

/** What a store takes, and what it has left. */
export interface LedgerCapacity {
  /** Of the file, or of the database at a server. */
  readonly bytes: number
  /** The volume of a file. */
  readonly volume?: { readonly bytes: number; readonly availableBytes: number }
  /** By how much this process's clock is ahead of the server's; absent where that took too long to ask. */
  readonly clockOffsetMs?: number
}

/** Of the connections to a server. */
export interface LedgerConnections {
  readonly used: number
  readonly idle: number
  readonly max: number
}

/** Transitions of many creates in one statement. Each resolves with undefined, without a change, if its create needs more than that. */
export interface AtOnce {
  /** Undefined also if nobody waits for it any more. */
  readonly begin: (intent: Intent, isAwaited: () => boolean) => Promise<'begun' | 'keyInUse' | undefined>
  readonly complete: (completion: Completion) => Promise<'done' | undefined>
  /** How many that need more may begin at a time: they leave connections to the rest. */
  readonly maxAlone: number
}

export interface Completion {
  /** Of the intent. */
  readonly id: string
  readonly create: CreateWithoutEntry
  readonly record: TransactionRecord
  /** At which mismatches in a row may end with it. */
  readonly tags: readonly string[]
}

/** Compiles a query once. The query has a placeholder for each name; each execution supplies the values. */
export function prepare<Row, Name extends string>(
  database: Database,
  names: readonly Name[],
  buildQuery: (blank: Readonly<Record<Name, never>>) => CompiledQuery<Row>,
) {
  const query = buildQuery(Object.fromEntries(names.map((name) => [name, Symbol(name)])) as Record<Name, never>)
  return async (values: Readonly<Record<Name, unknown>>, on: Database = database): Promise<readonly Row[]> => {
    const filled = query.parameters.map((value) => (typeof value === 'symbol' ? values[value.description as Name] : value))
    const { rows } = await on.executeQuery<Row>({ ...query, parameters: filled })
    return rows
  }
}

// Tells of events of transactions once they are committed.

export class NewEvents {
  private noted = 0
  private listener = (): void => {}

  onCommit(listener: () => void): void {
    this.listener = listener
  }

  /** The transaction that is running has a new event. */
  note(): void {
    this.noted++
  }

  committed(): void {
    this.listener()
  }

  /** Tells of a write also if another one has noted an event meanwhile. */
  watch(write: Write): Write {
    return async (work, priority) => {
      const before = this.noted
      try {
        return await write(work, priority)
      } finally {
        if (this.noted !== before) this.committed()
      }
    }
  }
}

// Tracks running operations, so that a store closes after the last one.

interface InFlight {
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** Resolves when all operations have ended, also those that they started. */
  readonly idle: () => Promise<void>
}

export function trackInFlight(): InFlight {
  const pending = new Set<Promise<unknown>>()
  return {
    track(work) {
      pending.add(work)
      const forget = () => void pending.delete(work)
      work.then(forget, forget)
      return work
    },
    async idle() {
      while (pending.size > 0) {
        await Promise.allSettled(pending)
        await pause()
      }
    },
  }
}
