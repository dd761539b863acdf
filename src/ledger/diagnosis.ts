/** What is wrong with a ledger that cannot be opened or reached: the cause, and what to do. Without a credential. */
import { type UnreachableCause, unreachableCauseOf } from '../domain/failure-cause.ts'
import type { StoreTrouble } from '../domain/store-trouble.ts'

type Known = readonly [StoreTrouble['cause'], message: string]

/** By the primary result code of SQLite: the lowest byte of its `errcode`. */
const sqlite = new Map<number, Known>([
  [5, ['locked', 'another process has locked it; stop that process']],
  [
    8,
    [
      'read_only',
      'it is not writable; give this user write access to the file and its directory, or name another one in ledger.url',
    ],
  ],
  [10, ['disk', 'the disk does not write or read it; look at its free space, its limits and its health']],
  [11, ['damaged', 'it is damaged; restore a backup']],
  [13, ['full', 'the disk is full; free some space']],
  [
    14,
    ['file', 'the file cannot be opened or created; correct ledger.url, or make this user the owner of the file and its directory'],
  ],
  [26, ['damaged', 'it is not a SQLite database; name another file, or restore a backup']],
])
const foreignRule: Known = [
  'tables',
  'a constraint, a column or a trigger that is not of swapgate refuses rows of the ledger; the log of the server names it: remove it there',
]
const sessionNotKept: Known = [
  'pooler',
  'PgBouncer, or another pooler, does not keep a session for each connection; set pool_mode = session and server_reset_query = DISCARD ALL in pgbouncer.ini',
]
/** The probe's code for a row that was changed without an error, and is not. No SQLSTATE of PostgreSQL. */
export const rowLeftOut = '42LEFT'

const rowPolicy: Known = [
  'permissions',
  'the user lacks a privilege, since row level security is on; ALTER TABLE <table> DISABLE ROW LEVEL SECURITY, or give it a policy for all rows',
]
const publication: Known = [
  'publication',
  'a publication keeps a table from being updated that has no primary key; ALTER TABLE transactions REPLICA IDENTITY FULL',
]
/** By the SQLSTATE of PostgreSQL, alone or with the function of the server that says it, or the name of a system error. */
const others = new Map<string, Known>([
  ['28P01', ['credentials', 'the server rejects the user or the password; correct them in ledger.url']],
  ['28000', ['credentials', 'the server rejects this user; correct the user in ledger.url, or allow it on the server']],
  ['3D000', ['no_database', 'the server has no such database; create it']],
  ['25006', ['read_only', 'the server is read-only; make it take writes, or name the one that does in ledger.url']],
  ['53100', ['full', 'the disk of the server is full; free some space there']],
  [
    '42501',
    [
      'permissions',
      'the user lacks a privilege; make it the owner of the tables, or GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA <schema> TO <user>',
    ],
  ],
  [
    '42501 CheckMyDatabase',
    ['permissions', 'the user may not connect to this database; allow it: GRANT CONNECT ON DATABASE <database> TO <user>'],
  ],
  ['42501 ExecWithCheckOptions', rowPolicy],
  [rowLeftOut, rowPolicy],
  [
    '42P01',
    [
      'no_table',
      'a table of the ledger is not there; restore it, or correct ledger.url or search_path, or GRANT USAGE ON SCHEMA <schema> TO <user>',
    ],
  ],
  ['55000', publication],
  [
    '55000 CheckMyDatabase',
    ['no_database', 'the database takes no connections; allow them: ALTER DATABASE <database> WITH ALLOW_CONNECTIONS true'],
  ],
  [
    '42P10 CheckCmdReplicaIdentity',
    [
      'publication',
      "a publication of a table has a list of columns, or a filter of rows, without its primary key; add the key, or ALTER PUBLICATION <name> SET (publish = 'insert')",
    ],
  ],
  [
    '23505',
    [
      'tables',
      "a table takes no new row, since its sequence is behind its rows; set it: SELECT setval(pg_get_serial_sequence('<table>', '<column>'), max(<column>)) FROM <table>; the log of the server names it",
    ],
  ],
  ['23502', foreignRule],
  ['23503', foreignRule],
  ['23514', foreignRule],
  ['P0001', foreignRule],
  ['53300', ['connections', 'the server has no free connection; raise its limit']],
  ['42P05', sessionNotKept],
  ['26000', sessionNotKept],
  ['57P03', ['starting', 'the server is starting or stopping; try again']],
  ['ECONNREFUSED', ['refused', 'no server listens at this address; start it, or correct the address']],
  ['ENOTFOUND', ['dns_not_found', 'the host does not exist; correct the address']],
  ['EAI_AGAIN', ['dns_failed', 'the host name cannot be resolved; correct the address, or try again']],
  ['dns_timeout', ['dns_timeout', 'no name server answers about the host name; correct the address, or try again']],
  ['EACCES', ['file', 'the directory cannot be created; correct ledger.url, or give this user the permission']],
  ['EROFS', ['file', 'the directory cannot be created, since the file system is read-only; name another one in ledger.url']],
  ['EEXIST', ['file', 'the directory cannot be created, since a file has this name; correct ledger.url']],
  ['ENOTDIR', ['file', 'the directory cannot be created, since a file has this name; correct ledger.url']],
])

/** TLS, by its cause. */
const byCause: Readonly<Partial<Record<UnreachableCause, string>>> = {
  tls_expired: "the server's certificate is past its end, or before its start; renew it there, or correct this machine's clock",
  tls_untrusted:
    "the server's certificate is of an authority that is not known here; add sslrootcert=<file of the authority, in PEM> to ledger.url, after ? or &. sslmode=require is checked like verify-full",
  tls_wrong_name: "the server's certificate is of another name; write the name of the certificate as the host in ledger.url",
  tls_failed: 'the server speaks TLS, and there was no agreement; it may want sslcert and sslkey in ledger.url',
}

/** What has no code of its own, by the words of the library or of PgBouncer. They are English in every version. */
const byText: readonly (readonly [RegExp, Known])[] = [
  [
    /does not support SSL connections/,
    ['not_tls', 'the server does not speak TLS; take sslmode out of ledger.url, or switch TLS on at the server'],
  ],
  [
    /unsupported startup parameter/i,
    [
      'parameter',
      'PgBouncer does not know a parameter; set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout in pgbouncer.ini',
    ],
  ],
  [
    /no encryption|SSL off|SSL required|requires SSL|insecure connection/i,
    [
      'tls_required',
      'the server does not accept this user without TLS; add sslmode=verify-full to ledger.url, or allow it in pg_hba.conf there',
    ],
  ],
  [/no such user/i, ['credentials', 'PgBouncer does not know this user; correct it in ledger.url, or add it to its auth_file']],
  [/no such database/i, ['no_database', 'PgBouncer has no such database; correct ledger.url, or add it to pgbouncer.ini']],
  [
    /auth(?:entication)? failed|password authentication/i,
    ['credentials', 'the server rejects the user or the password; correct them in ledger.url'],
  ],
]

interface Failure {
  readonly errcode?: number
  readonly code?: string
  readonly routine?: string
  readonly message?: string
}

/** Undefined if it is none of those that are known. */
function knownDiagnosis(reason: unknown): Known | undefined {
  const { errcode, code, routine, message = '' } = reason as Failure
  if (errcode !== undefined) return sqlite.get(errcode & 0xff)
  const file = namedFile(reason)
  if (file !== undefined) return ['tls_file', file]
  const known =
    byText.find(([pattern]) => pattern.test(message))?.[1] ?? others.get(`${code} ${routine}`) ?? others.get(String(code))
  if (known !== undefined) return known
  const cause = unreachableCauseOf(reason)
  const byTls = byCause[cause]
  if (byTls !== undefined) return [cause, byTls]
  return /timeout/i.test(message)
    ? ['timed_out', 'the server does not respond in time; check the address and the network']
    : undefined
}

/** A file that `ledger.url` names for TLS, and that cannot be read. */
function namedFile(reason: unknown): string | undefined {
  const { code, syscall, path } = reason as { code?: string; syscall?: string; path?: string }
  if (syscall !== 'open' || (code !== 'ENOENT' && code !== 'EACCES')) return undefined
  return `the file ${path}, which ledger.url names, cannot be read (${code}); correct sslrootcert, sslcert or sslkey there`
}

export function diagnose(reason: unknown): string {
  const { message, errors } = reason as { message?: string; errors?: Error[] }
  return knownDiagnosis(reason)?.[1] ?? (message || errors?.[0]?.message) ?? String(reason)
}

/** SQLSTATEs of a server that cannot do its work: read-only, no resources, an error of its system, damaged data. */
const serverTrouble = /^(?:25006|53|58|XX)/

/** Whether a statement failed because of the state of the server, not because of what it says. */
export function isServerTrouble(reason: unknown): boolean {
  return serverTrouble.test(String((reason as { code?: unknown }).code))
}

/** Of a gateway that runs: what is not known is told by its code alone, since a message may have names and values. */
export function troubleOf(reason: unknown): StoreTrouble {
  const { code } = reason as { code?: string }
  const [cause, message] = knownDiagnosis(reason) ?? [
    unreachableCauseOf(reason),
    `the server cannot be used (${code ?? 'no code'})`,
  ]
  return { cause, message }
}

export function diagnoseCopy(reason: unknown): string {
  const { errcode, code, message } = reason as { errcode?: number; code?: string; message?: string }
  const own = errcode === undefined ? copies.get(String(code)) : sqlite.get(errcode & 0xff)?.[1]
  return own ?? message ?? String(reason)
}

const copies = new Map([
  ['ENOENT', 'its directory does not exist'],
  ['EACCES', 'this user may not write there'],
  ['EROFS', 'the file system is read-only'],
  ['EEXIST', 'a file of that name exists by now; name another one'],
  ['ENOSPC', 'the disk is full; free some space'],
  ['EPERM', 'the file system has no hard links; name a file on another one'],
])
