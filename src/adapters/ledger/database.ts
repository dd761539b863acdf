/** Kysely: the ledger's tables and its write function. */
import type { Kysely } from 'kysely'
import type { Tables } from './schema/tables.ts'

export type Database = Kysely<Tables>

/** `result`: the result of a create; it precedes all other writes. */
export type Priority = 'result' | 'usual'

/** Work that has connections of its own. */
export type Lane = Priority | 'read'

/**
 * Runs the work in one durable transaction. The work may run more than once, also after a commit that was not confirmed.
 * Throws an `UncertainChange` if it stays unknown whether the transaction was committed.
 */
export type Write = <T>(work: (within: Database) => Promise<T>, priority?: Priority) => Promise<T>
