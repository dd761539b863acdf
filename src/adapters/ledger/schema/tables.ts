/** The ledger's tables as Kysely sees them; `migrations.ts` makes them, `docs/ledger.md` explains them. */
import type { ColumnType, Generated } from 'kysely'
import type { Status } from '../../../domain/swap/status.ts'

export interface Tables {
  transactions: Transactions
  claims: Claims
  ended: Ended
  pruned_ids: PrunedIds
  tallies: PageIndexTable
  providers: Providers
  accounts: Accounts
  keys: Keys
  currency_lists: CurrencyLists
  replica_figures: ReplicaFiguresTable
  overrides: Overrides
  audit: Audit
}

/** `done` is an entry, whose facts are known; the others are creates that nobody was told of. */
export type State = 'pending' | 'unknown' | 'done' | 'mismatch'

/** Where an entry stands in its owner's list: ascending, newest first. */
export interface SortPosition {
  /** Minus the creation time in nanoseconds: beyond what a number holds, so written and compared, never read. */
  readonly sort_key: bigint
  readonly provider_id: string
  readonly provider: string
}

type Written<T> = ColumnType<never, T, T>

interface Transactions {
  /** Null where it was only seen. */
  intent: string | null
  owner: string
  provider: string
  provider_id: string | null
  state: State
  attempted_at: number | null
  sort_key: Written<bigint | null>
  status: Status | null
  seen_at: number | null
  read_at: number | null
  changed_at: number | null
  /** Of the request whose response this is, over all processes; null where it was kept before that was noted. */
  sequence: number | null
  look_at: number | null
  looks: ColumnType<number, number | undefined, number>
  /** When a process last took it to read it of the gateway's own accord, on the ledger's clock; 0: never. */
  polled_at: ColumnType<number, number | undefined, number>
  /** When it was begun, on the ledger's clock; null where that is not known. */
  begun_at: ColumnType<never, number | null | undefined, never>
  /** JSON: the question. */
  asked: string | null
  /** JSON: what is known of an entry, without its status; what was told of a mismatch. */
  facts: string | null
  /** Of the request that made it, where that was traced. */
  traceparent: string | null
}

/** Creates that made nothing, as far as the provider's list says: a late result is still known by them. */
interface Ended {
  intent: string
  owner: string
  provider: string
  asked: string
  attempted_at: number
  /** On the ledger's clock. */
  ended_at: Written<number>
}

/** Ids that creates had whose transactions were pruned. */
interface PrunedIds {
  provider: string
  provider_id: string
  /** On the ledger's clock. */
  pruned_at: Written<number>
}

interface Claims {
  owner: string
  key: string
  intent: string
  fingerprint: string
  /** JSON: the first answer. */
  first: string | null
  /** On the ledger's clock. */
  created_at: number
}

/** How many entries an owner has from one place on, up to the next tally's. */
interface PageIndexTable {
  owner: string
  sort_key: Written<bigint>
  provider_id: string
  provider: string
  entries: number
  /** How many the owner has that are older than these. */
  older: number
}

interface Providers {
  tag: string
  form: string
  /** Without credentials. */
  url: string
}

interface Accounts {
  id: string
  name: string
  created_at: number
}

interface Keys {
  digest: string
  id: string
  account: string
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** The last whole currency list of a provider. */
interface CurrencyLists {
  provider: string
  url: string
  form: string
  /** JSON: its rows. */
  rows: string
  /** By the database's clock. */
  read_at: Written<number>
  /** Since the machine was started, where store and processes are on one machine. */
  read_at_uptime: number | null
}

/** What is in force in place of the configuration file. */
interface Overrides {
  /** `state:` and a provider's name, `weights` or `shadow`. */
  key: string
  /** JSON. */
  value: string
  /** JSON: what the file said when it was made. */
  file_value: string
  actor: string
  /** By the database's clock. */
  since: number
  /** 1: a replica has read a file that says something else by now. */
  ended: number
}

/** What a person has changed. */
interface Audit {
  id: Generated<number>
  /** By the database's clock. */
  at: number
  actor: string
  action: string
  subject: string
  /** JSON. */
  before: string | null
  after: string | null
}

interface ReplicaFiguresTable {
  replica: string
  /** On the database's clock. */
  at: Written<number>
  /** JSON. */
  figures: string
}
