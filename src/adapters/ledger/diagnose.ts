/** Messages for a ledger that cannot be opened: the cause and what to do. */

/** By the primary result code of SQLite: the lowest byte of its `errcode`. */
const sqlite = new Map([
  [5, 'another process has locked it; stop that process'],
  [8, 'it is not writable; give this user write access to the file and its directory'],
  [11, 'it is damaged; restore a backup'],
  [13, 'the disk is full; free some space'],
  [14, 'the file cannot be opened or created; correct the path, or make this user the owner of the file and its directory'],
  [26, 'it is not a SQLite database; name another file, or restore a backup'],
])
/** By the SQLSTATE of PostgreSQL or the name of a system error. */
const others = new Map([
  ['28P01', 'the server rejects the user or the password; correct them'],
  ['28000', 'the server rejects this user; allow it on the server'],
  ['3D000', 'the server has no such database; create it'],
  ['42501', 'the user may not create tables; grant it this privilege'],
  ['53300', 'the server has no free connection; raise its limit'],
  ['57P03', 'the server is starting or stopping; try again'],
  ['ECONNREFUSED', 'no server listens at this address; start it, or correct the address'],
  ['ENOTFOUND', 'the host does not exist; correct the address'],
  ['EAI_AGAIN', 'the host name cannot be resolved; correct the address, or try again'],
  ['dns_timeout', 'no name server answers about the host name; correct the address, or try again'],
  ['EACCES', 'the directory cannot be created; correct the path, or give this user the permission'],
  ['EEXIST', 'the directory cannot be created, since a file has this name; correct the path'],
  ['ENOTDIR', 'the directory cannot be created, since a file has this name; correct the path'],
])

export function diagnose(reason: unknown): string {
  const { errcode, code, message, errors } = reason as { errcode?: number; code?: string; message?: string; errors?: Error[] }
  const known = errcode === undefined ? others.get(String(code)) : sqlite.get(errcode & 0xff)
  if (known === undefined && /timeout/i.test(message ?? ''))
    return 'the server does not respond in time; check the address and the network'
  return known ?? (message || errors?.[0]?.message) ?? String(reason)
}
