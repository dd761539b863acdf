/** What is wrong with a store, or with the way to it: a closed list for metrics, and a line for a person. */
import type { UnreachableCause } from './failure-cause.ts'

/** Beside those of a server that cannot be reached. */
type OwnCause =
  | 'credentials' // the user or the password
  | 'permissions' // what the user may do
  | 'tls_required' // the server takes no connection, or not this user, without TLS
  | 'tls_file' // a file that the URL names for TLS cannot be read
  | 'no_database'
  | 'parameter' // PgBouncer does not know one
  | 'connections' // the server has none free
  | 'starting'
  | 'read_only'
  | 'full' // its disk or its memory
  | 'disk' // it does not write or read
  | 'locked' // another process or session has a lock
  | 'damaged' // or no database at all
  | 'file' // that of SQLite cannot be opened or made

export interface StoreTrouble {
  readonly cause: UnreachableCause | OwnCause
  /** What is wrong, and what to set. Without a credential. */
  readonly message: string
}

export type OnTrouble = (trouble: StoreTrouble) => void
