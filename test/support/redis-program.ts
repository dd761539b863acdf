/** The program of Redis: the machine's own, or installed with apt where that can be done. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Debian's redis-tools has the server too, under another name, and brings no service that would be started. */
const names = ['redis-server', 'valkey-server', 'redis-check-rdb']
const lock = '/tmp/swapgate-redis-install'
const patience = 120_000

/** Throws what is missing, and what to do. */
export async function redisProgram(): Promise<string> {
  const found = find()
  if (found) return found
  if (process.getuid?.() !== 0 || !inPath('apt-get')) {
    throw new Error('These tests need redis-server in PATH: please install it. (They install it themselves as root with apt-get.)')
  }
  await alone(install)
  return find() ?? fail('apt-get installed redis-tools, and there is still no Redis in PATH.')
}

function find(): string | undefined {
  return names.map(inPath).find((path) => path !== undefined)
}

function inPath(name: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, name))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function install(): void {
  const run = (...args: string[]): unknown =>
    execFileSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  try {
    run('update', '-qq')
    run('install', '-y', '-qq', '--no-install-recommends', 'redis-tools')
  } catch (cause) {
    throw new Error('These tests need redis-server, and apt-get could not install it.', { cause })
  }
}

/** Test files run at the same time: one of them installs, the others wait. */
async function alone(work: () => void): Promise<void> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await delay(200)) {
    if (find()) return
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
  fail(`Another test run did not finish installing Redis. If none runs, please remove ${lock}.`)
}

function fail(message: string): never {
  throw new Error(message)
}
