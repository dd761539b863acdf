/** Kysely: one way to read and to write, whichever database is below. */
import type { CompiledQuery, RawBuilder, SqlBool } from 'kysely'
import type { LedgerWaits } from '../../core/access/load-shedding.ts'
import type { LedgerClock } from './clock.ts'
import type { Database, Write } from './database.ts'
import type { ColumnTypes } from './schema/migrations.ts'

export type LockName = 'schema' | 'overrides'

export interface Store {
  /** For questions; it sees all that was written before. */
  readonly database: Database
  readonly write: Write
  /** The same for work that is a single statement. */
  readonly writeOne: Write
  readonly types: ColumnTypes
  readonly clock: LedgerClock
  /** The database's clock, in milliseconds since 1970. */
  readonly databaseTimeMs: RawBuilder<number>
  /** Milliseconds since the machine was started; absent where processes on other machines use the store too. */
  readonly uptimeMs?: () => number
  /** `list` is what `toList` made. */
  readonly isIn: (column: string, list: unknown) => RawBuilder<SqlBool>
  /** A table `listed` with the column `value`; `list` is what `toList` made. */
  readonly listed: (list: unknown) => RawBuilder<unknown>
  /** Texts as one value. */
  readonly toList: (texts: readonly string[]) => unknown
  /** How long the first question and the first change without priority have waited for their turn. */
  readonly waits: () => LedgerWaits
  /** Until the transaction ends no other process gets the same lock. */
  readonly lock: (within: Database, what: LockName) => Promise<void>
  readonly close: () => Promise<void>
}

/** A question that is compiled once and asked often: `question` writes a blank for each name, an asking gives them values. */
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
