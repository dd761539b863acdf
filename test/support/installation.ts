/** Programs that tests need: those of the machine, or installed with apt if possible. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { diskDirectory } from './memory-directory.ts'

const timeoutMs = 300_000
/** Debian installs servers outside of some users' PATH. */
const servers = ['/usr/sbin', '/sbin']
/** One for all programs: apt serves one at a time. */
const lock = join(diskDirectory(), 'swapgate-install')

/** Undefined where there is none that may be run. */
export function inPath(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter), ...servers]
  return directories.map((directory) => join(directory, name)).find(isProgram)
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** `find`, after an installation if need be. Throws what is missing, and what to do. */
export async function installed<T>(what: string, find: () => T | undefined, install: () => void): Promise<T> {
  const found = find()
  if (found) return found
  if (process.getuid?.() !== 0 || !inPath('apt-get')) {
    throw new Error(`These tests need ${what} in PATH: please install it. (They install it themselves as root with apt-get.)`)
  }
  await alone(what, () => find() !== undefined, install)
  return find() ?? fail(`apt-get did its work, and there is still no ${what} in PATH.`)
}

/** `apt-get` with these words, with the lists of packages that it has, or else with new ones. Throws what `what` is needed for. */
export function apt(what: string, directory: string, ...words: readonly string[]): void {
  // The database of manual pages takes longer to renew than most programs to install.
  const options = ['-qq', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--path-exclude=/usr/share/man/*']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (...all: readonly string[]): unknown =>
    execFileSync('apt-get', [...options, ...all], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], env })
  try {
    try {
      run(...words)
    } catch {
      run('update')
      run(...words)
    }
  } catch (cause) {
    throw new Error(`These tests need ${what}, and apt-get could not bring it.`, { cause })
  }
}

/** Test files run at the same time: one of them installs, the others wait. */
async function alone(what: string, isThere: () => boolean, work: () => void): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await delay(200)) {
    if (isThere()) return
    try {
      mkdirSync(lock)
    } catch {
      continue
    }
    try {
      return work()
    } finally {
      rmSync(lock, { recursive: true })
    }
  }
  fail(`Another test run did not finish installing ${what}. If none runs, please remove ${lock}.`)
}

function fail(message: string): never {
  throw new Error(message)
}
