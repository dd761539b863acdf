/** node:fs: a database file, and what SQLite writes beside it, that only its owner reads. */
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

const ownerOnly = 0o600

/**
 * Creates the file and its missing directories for their owner only, and takes the rights of others from files that exist. An
 * existing directory stays as it is: it may hold other things. What SQLite adds later has the rights of the file.
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  attempt(() => closeSync(openSync(file, 'wx', ownerOnly)))
  for (const suffix of ['', '-wal', '-shm']) attempt(() => chmodSync(file + suffix, ownerOnly))
}

/** What fails here is the file's absence, or another owner's; SQLite reports a file that it cannot use. */
function attempt(action: () => void): void {
  try {
    action()
  } catch {}
}
