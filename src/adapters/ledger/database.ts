/** Kysely: the ledger's tables, and the one way to change them. */
import type { Kysely } from 'kysely'
import type { Tables } from './schema/tables.ts'

export type Database = Kysely<Tables>

/** `result`: what became of a create, which goes before all else. */
export type Priority = 'result' | 'usual'

/**
 * One transaction: all that the work changes is kept, durable, or none of it. The work may run more than once, also after it
 * was kept where that could not be known. Throws an `UncertainChange` where nobody can tell.
 */
export type Write = <T>(work: (within: Database) => Promise<T>, priority?: Priority) => Promise<T>
