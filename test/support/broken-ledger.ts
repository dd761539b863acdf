/** Faults of the file of a SQLite ledger while a gateway works with it. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { diskDirectory } from './memory-directory.ts'

export type Heal = () => void

/** Another process holds the write lock, once the gateway has let it go. */
export function lock(directory: string): Heal {
  const database = new DatabaseSync(join(directory, 'ledger.db'), { timeout: 10_000 })
  database.exec('BEGIN IMMEDIATE')
  return () => {
    database.exec('ROLLBACK')
    database.close()
  }
}

/** Its files are read-only, also for processes that have them open; of file systems in memory none can. */
export function forbid(directory: string): Heal {
  const files = ['ledger.db', 'ledger.db-wal'].map((name) => join(directory, name))
  execFileSync('chattr', ['+i', ...files], { stdio: 'ignore' })
  return () => void execFileSync('chattr', ['-i', ...files])
}

/** The directory is a file system of its own, and something else fills it. */
export function fill(directory: string): Heal {
  const filler = join(directory, 'filler')
  const file = openSync(filler, 'w')
  const block = Buffer.alloc(4_096)
  for (;;) {
    try {
      writeSync(file, block)
    } catch {
      break
    }
  }
  closeSync(file)
  return () => rmSync(filler)
}

/** The root page of its transactions is noise. The gateway does not run, and the ledger lies in this one file. */
export function corrupt(directory: string): Heal {
  const file = join(directory, 'ledger.db')
  const database = new DatabaseSync(file)
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'transactions'").get() as {
    rootpage: number
  }
  const { page_size: size } = database.prepare('PRAGMA page_size').get() as { page_size: number }
  database.close()
  const before = readFileSync(file)
  const open = openSync(file, 'r+')
  writeSync(open, Buffer.alloc(size, 0xa5), 0, size, (rootpage - 1) * size)
  closeSync(open)
  return () => writeFileSync(file, before)
}

/** False also for a file system in memory, where a file that is open can still be written. */
export const canForbid = works(() => {
  const directory = mkdtempSync(join(diskDirectory(), 'swapgate-probe-'))
  for (const name of ['ledger.db', 'ledger.db-wal']) writeFileSync(join(directory, name), '')
  const open = openSync(join(directory, 'ledger.db'), 'r+')
  const heal = forbid(directory)
  const isWritten = works(() => writeSync(open, 'a'))
  heal()
  closeSync(open)
  rmSync(directory, { recursive: true })
  if (isWritten) throw new Error('A file that is open can still be written.')
})
export const canMount = works(() => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-probe-'))
  mount(directory, '1m')()
  rmSync(directory, { recursive: true })
})

/** A small file system in memory, at this directory. */
export function mount(directory: string, size: string): Heal {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory], { stdio: 'ignore' })
  return () => void execFileSync('umount', [directory])
}

function works(attempt: () => void): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
