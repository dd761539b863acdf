/** PgBouncer before a PostgreSQL server of a test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { memoryDirectory } from './memory-directory.ts'
import { execute, until } from './postgres-server.ts'
import { programOf } from './program.ts'

export interface PgBouncer {
  /** Of the server, through the pooler. */
  readonly url: string
  /** Other lines, and a RELOAD. */
  readonly reload: (settings: readonly string[]) => void
  readonly close: () => Promise<void>
}

/** It refuses to run as root. */
const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** `settings`: lines of `pgbouncer.ini`, section `[pgbouncer]`. The user of the server may come in without a password. */
export async function startPgBouncer(server: string, settings: readonly string[]): Promise<PgBouncer> {
  const program = await programOf({ names: ['pgbouncer'], package: 'pgbouncer' })
  const port = await freePort(20_000, 8_000)
  const directory = mkdtempSync(join(memoryDirectory(), 'swapgate-pgbouncer-'))
  if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.gid)
  const { hostname, port: behind, username } = new URL(server)
  const file = join(directory, 'pgbouncer.ini')
  writeFileSync(join(directory, 'users.txt'), `"${username}" ""\n`)
  const write = (lines: readonly string[]): void =>
    writeFileSync(
      file,
      [
        '[databases]',
        `* = host=${hostname} port=${behind}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = trust',
        `auth_file = ${join(directory, 'users.txt')}`,
        ...lines,
        '',
      ].join('\n'),
    )
  write(settings)
  const child = spawn(program, [file], { ...identity, cwd: directory, stdio: 'ignore' })
  const url = Object.assign(new URL(server), { hostname: '127.0.0.1', port }).href
  await until(() => execute(url, 'SELECT').then(() => true))
  return {
    url,
    reload(lines) {
      write(lines)
      child.kill('SIGHUP')
    },
    async close() {
      if (child.exitCode === null && child.kill('SIGQUIT')) await once(child, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
