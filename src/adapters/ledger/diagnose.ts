/** What an operator is told of a ledger that does not open: what is wrong, and what to do. */

/** By the first result code of SQLite, which is the lowest byte of its `errcode`. */
const sqlite = new Map([
  [5, 'another process holds it locked; end that process'],
  [8, 'it cannot be written; let this user write the file and its directory'],
  [11, 'it is damaged; put back a copy'],
  [13, 'the disk is full; make room'],
  [14, 'the file cannot be opened or made; correct the path, or make this user the owner of the file and its directory'],
  [26, 'it is no SQLite database; name another file, or put back a copy'],
])
/** By the SQLSTATE of PostgreSQL or the name of a system error. */
const others = new Map([
  ['28P01', 'the server refuses the user or the password; correct them'],
  ['28000', 'the server refuses this user; let it in'],
  ['3D000', 'the server has no such database; create it'],
  ['42501', 'the user may not make tables there; grant it the right to'],
  ['53300', 'the server has no connection left; allow it more'],
  ['57P03', 'the server is starting or stopping; try again'],
  ['ECONNREFUSED', 'no server listens there; start it, or correct the address'],
  ['ENOTFOUND', 'there is no such host; correct the address'],
  ['EAI_AGAIN', 'the host cannot be looked up; correct the address, or try again'],
  ['EACCES', 'the directory cannot be made; correct the path, or let this user make it'],
  ['EEXIST', 'the directory cannot be made, since there is a file; correct the path'],
  ['ENOTDIR', 'the directory cannot be made, since there is a file; correct the path'],
])

export function diagnose(reason: unknown): string {
  const { errcode, code, message, errors } = reason as { errcode?: number; code?: string; message?: string; errors?: Error[] }
  const known = errcode === undefined ? others.get(String(code)) : sqlite.get(errcode & 0xff)
  if (known === undefined && /timeout/i.test(message ?? ''))
    return 'the server does not answer in time; correct the address, or the way to it'
  return known ?? (message || errors?.[0]?.message) ?? String(reason)
}
