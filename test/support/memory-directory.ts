/** A directory whose files are in memory. */
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const place = '/dev/shm'
const neededBytes = 2 ** 31

/**
 * For many files, which a disk takes far more processor time to create. The directory for temporary files where the system
 * keeps none in memory, has little room there, or runs no programs from it.
 */
export function memoryDirectory(): string {
  return isUsable() ? place : tmpdir()
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
