/** Real programs that tests run: the machine's own, or installed with apt where that can be done. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface Program {
  /** What it is called; the first that is in PATH is taken. */
  readonly names: readonly [string, ...string[]]
  /** The package of Debian that has it. */
  readonly package: string
}

const patience = 300_000

/** The path of the program. Throws what is missing, and what to do. */
export async function programOf(program: Program): Promise<string> {
  const found = find(program)
  if (found) return found
  const [name] = program.names
  if (process.getuid?.() !== 0 || !inPath('apt-get')) {
    throw new Error(`These tests need ${name} in PATH: please install it. (They install it themselves as root with apt-get.)`)
  }
  await alone(program)
  return find(program) ?? fail(`apt-get installed ${program.package}, and there is still no ${name} in PATH.`)
}

function find({ names }: Program): string | undefined {
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

function install({ names: [name], package: wanted }: Program): void {
  const run = (...args: string[]): unknown =>
    execFileSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  try {
    run('update', '-qq')
    run('install', '-y', '-qq', '--no-install-recommends', wanted)
  } catch (cause) {
    throw new Error(`These tests need ${name}, and apt-get could not install it.`, { cause })
  }
}

/** Test files run at the same time: one of them installs, the others wait; and apt works for one at a time. */
async function alone(program: Program): Promise<void> {
  const lock = '/tmp/swapgate-install'
  for (const deadline = Date.now() + patience; Date.now() < deadline; await delay(200)) {
    if (find(program)) return
    try {
      mkdirSync(lock)
    } catch {
      continue
    }
    try {
      return install(program)
    } finally {
      rmSync(lock, { recursive: true })
    }
  }
  fail(`Another test run did not finish installing. If none runs, please remove ${lock}.`)
}

function fail(message: string): never {
  throw new Error(message)
}
