/** The program of Redis. */
import { programOf } from './program.ts'

/** Debian's redis-tools has the server too, under another name, and brings no service that would be started. */
export function redisProgram(): Promise<string> {
  return programOf({ names: ['redis-server', 'valkey-server', 'redis-check-rdb'], package: 'redis-tools' })
}
