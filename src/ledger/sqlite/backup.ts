/** node:sqlite: a copy of the ledger's file while gateways use it. */
import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A gateway holds the write lock for milliseconds; a reader waits only while one recovers from a crash. */
const lockTimeoutMs = 5_000
const ownerOnly = 0o600

/**
 * Copies what is committed at one moment to `target`, which appears whole or not at all, readable for its owner only, and is checked
 * before. Throws where `target` exists.
 */
export function backUpSqlite(file: string, target: string): void {
  const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
  closeSync(openSync(partial, 'wx', ownerOnly))
  try {
    copy(file, partial)
    check(partial)
    flush(partial)
    linkSync(partial, target) // unlike a rename it never replaces a file
  } finally {
    rmSync(partial)
  }
  flush(dirname(target))
}

/** In one read transaction: writers go on. */
function copy(file: string, partial: string): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeoutMs })
  try {
    database.prepare('VACUUM INTO ?').run(partial)
  } finally {
    database.close()
  }
}

function check(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const [found] = database.prepare('PRAGMA integrity_check(1)').all()
    const [result] = Object.values(found ?? {})
    if (result !== 'ok') throw new Error(`the copy is damaged: ${result}`)
  } finally {
    database.close()
  }
}

/** To the disk; of a directory its names. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
