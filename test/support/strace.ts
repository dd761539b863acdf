/** strace on a gateway process: which of its system calls came before which. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a process may be traced here. */
export const canTrace = spawnSync('strace', ['-e', 'trace=none', 'true']).status === 0

export interface Trace {
  /** Ends it. A line for each call, in their order, files and sockets by name. */
  readonly stop: () => Promise<readonly string[]>
}

const flushes = 'fsync,fdatasync,sync_file_range,msync'
const sends = 'write,writev,pwrite64,pwritev,sendto,sendmsg'

/** Of the process that has this text in its command line. */
export async function trace(text: string): Promise<Trace> {
  const options = ['-f', '-yy', '-s', '48', '-e', `trace=${flushes},${sends}`, '-p', String(processWith(text))]
  const child = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  const attached = Promise.withResolvers<void>()
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk
    if (/ attached/.test(output)) attached.resolve()
  })
  const ended = once(child, 'close')
  await Promise.race([attached.promise, ended])
  return {
    async stop() {
      child.kill('SIGINT')
      await ended
      return output.split('\n')
    },
  }
}

/** Kills it, as a power cut does, when it is about to flush next. */
export async function killAtFlush(text: string): Promise<void> {
  const options = [
    '-f',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    'inject=fsync,fdatasync:signal=SIGKILL:when=1',
    '-p',
    String(processWith(text)),
  ]
  const child = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const attached = Promise.withResolvers<void>()
  child.stderr.on('data', (chunk: Buffer) => {
    if (/ attached/.test(String(chunk))) attached.resolve()
  })
  await Promise.race([attached.promise, once(child, 'close')])
}

function processWith(text: string): number {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text))
  if (found.length !== 1) throw new Error(`${found.length} processes have ${text} in their command line`)
  return Number(found[0])
}

/** Nothing where it has ended meanwhile. */
function commandLine(process: string): string {
  try {
    return readFileSync(join('/proc', process, 'cmdline'), 'utf8')
  } catch {
    return ''
  }
}
