/** Directories for files of tests: in memory, or on a disk. */
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const place = '/dev/shm'
const variable = 'SWAPGATE_DISK'
const neededBytes = 2 ** 31

/**
 * For many files, which a disk takes far more processor time to create. The directory for temporary files where the system
 * keeps none in memory, has little room there, or runs no programs from it.
 */
export function memoryDirectory(): string {
  return isUsable() ? place : tmpdir()
}

/** The system's directory for temporary files, which outlasts a run. */
export function diskDirectory(): string {
  return process.env[variable] ?? tmpdir()
}

/** For vitest, before and after all: temporary files are in memory, since each commit of a SQLite file would wait for the disk. */
export default function setup(): () => void {
  process.env[variable] = tmpdir()
  const directory = mkdtempSync(join(memoryDirectory(), 'swapgate-tests-'))
  chmodSync(directory, 0o755) // PostgreSQL runs as another user
  process.env.TMPDIR = directory
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

function isUsable(): boolean {
  try {
    accessSync(place, constants.W_OK)
  } catch {
    return false
  }
  if (/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return false
  const { bavail, bsize } = statfsSync(place)
  return bavail * bsize >= neededBytes
}
