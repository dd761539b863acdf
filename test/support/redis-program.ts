/** The program of Redis. */
import { tmpdir } from 'node:os'
import { apt, inPath, installed } from './installation.ts'

const what = 'redis-server'
/** Debian's redis-tools has the server too, under another name, and brings no service that would be started. */
const names = [what, 'valkey-server', 'redis-check-rdb']

/** Throws what is missing, and what to do. */
export function redisProgram(): Promise<string> {
  return installed(
    what,
    () => names.map(inPath).find((path) => path !== undefined),
    () => {
      apt(what, tmpdir(), 'update', '-qq')
      apt(what, tmpdir(), 'install', '-y', '-qq', '--no-install-recommends', 'redis-tools')
    },
  )
}
