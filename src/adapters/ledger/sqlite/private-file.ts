/** node:fs: makes a database file, and the files that SQLite writes beside it, readable only for their owner. */
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

const ownerOnly = 0o600

/**
 * Creates the file and its missing directories for their owner only, and removes other users' permissions from existing
 * files. Does not change an existing directory: it may contain other files. Files that SQLite adds get the same permissions.
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  attempt(() => closeSync(openSync(file, 'wx', ownerOnly)))
  for (const suffix of ['', '-wal', '-shm']) attempt(() => chmodSync(file + suffix, ownerOnly))
}

/** Ignores errors: the file does not exist or has another owner. SQLite reports a file that it cannot use. */
function attempt(action: () => void): void {
  try {
    action()
  } catch {}
}
