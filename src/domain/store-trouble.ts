/** What is wrong with a store, or with the way to it: a closed list for metrics, and a line for a person. */
import type { UnreachableCause } from './failure-cause.ts'

/** Beside those of a server that cannot be reached. */
type OwnCause =
  | 'credentials' // the user or the password
  | 'permissions' // what the user may do
  | 'tls_required' // the server takes no connection, or not this user, without TLS
  | 'tls_file' // a file that the URL names for TLS cannot be read
  | 'no_database'
  | 'no_table'
  | 'encoding' // of a database that is not in UTF-8
  | 'publication' // one keeps a table from being updated
  | 'tables' // they have rules that are not the ledger's, or sequences that are behind
  | 'lagging_reads' // they go to a standby
  | 'parameter' // PgBouncer does not know one
  | 'pooler' // it does not keep a session for each connection
  | 'standby' // commits wait for it
  | 'connections' // the server has none free
  | 'starting'
  | 'read_only'
  | 'full' // its disk or its memory
  | 'disk' // it does not write or read
  | 'replicas' // fewer than the server wants before it takes a write
  | 'no_command' // the server does not know one
  | 'cluster' // the server is a node of one, or is none, or a part is down
  | 'busy'
  | 'locked' // another process or session has a lock
  | 'damaged' // or no database at all
  | 'file' // that of SQLite cannot be opened or made

export interface StoreTrouble {
  readonly cause: UnreachableCause | OwnCause
  /** What is wrong, and what to set. Without a credential. */
  readonly message: string
}

export type OnTrouble = (trouble: StoreTrouble) => void
