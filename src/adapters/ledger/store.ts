/** Kysely: one interface for reads and writes on both databases. */
import type { CompiledQuery, RawBuilder, SqlBool } from 'kysely'
import type { LedgerWaits } from '../../core/access/admission.ts'
import type { LostCommits } from '../../domain/observation.ts'
import type { LedgerClock } from './clock.ts'
import type { Database, Write } from './database.ts'
import type { ColumnTypes } from './schema/migrations.ts'
import type { TurnLimits } from './turns.ts'

export type LockName = 'schema' | 'overrides' | 'mismatches'

export interface Store {
  /** For reads. Returns all earlier writes. */
  readonly database: Database
  readonly write: Write
  /** The same for work that is a single statement. */
  readonly writeOne: Write
  readonly types: ColumnTypes
  readonly clock: LedgerClock
  /** The database's clock, in milliseconds since 1970. */
  readonly databaseTimeMs: RawBuilder<number>
  /** Milliseconds since the machine started; absent if processes on other machines use the store. */
  readonly uptimeMs?: () => number
  /** `list` comes from `toList`. */
  readonly isIn: (column: string, list: unknown) => RawBuilder<SqlBool>
  /** A table `listed` with the column `value`; `list` comes from `toList`. */
  readonly listed: (list: unknown) => RawBuilder<unknown>
  /** Several strings as one parameter. */
  readonly toList: (texts: readonly string[]) => unknown
  /** Differs from an earlier result if anything was committed since. Absent if the store cannot tell, or not faster than it reads. */
  readonly dataVersion?: () => number
  /** How long the first queued read and the first queued write without priority have waited. */
  readonly waits: () => LedgerWaits
  /** How many calls of creates and of reads it takes at a time. */
  readonly turns: TurnLimits
  /** Warnings about settings of the server. */
  readonly warnings: readonly string[]
  /** Whether the server has lost commits since the last call, or since another process asked. */
  readonly findLostCommits: () => Promise<LostCommits | undefined>
  /** Takes a lock over all processes until the transaction ends. */
  readonly lock: (within: Database, what: LockName) => Promise<void>
  /** The same for an id of a transaction. */
  readonly lockId: (within: Database, id: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Compiles a query once. The query has a placeholder for each name; each execution supplies the values. */
export function prepare<Row, Name extends string>(
  database: Database,
  names: readonly Name[],
  buildQuery: (blank: Readonly<Record<Name, never>>) => CompiledQuery<Row>,
) {
  const query = buildQuery(Object.fromEntries(names.map((name) => [name, Symbol(name)])) as Record<Name, never>)
  return async (values: Readonly<Record<Name, unknown>>): Promise<readonly Row[]> => {
    const filled = query.parameters.map((value) => (typeof value === 'symbol' ? values[value.description as Name] : value))
    const { rows } = await database.executeQuery<Row>({ ...query, parameters: filled })
    return rows
  }
}
