/** A program in 512 MB: of a control group where one can be made, else as node sees such a container. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const limitBytes = 512 * 1024 * 1024
/** V8's own limit in a container of that size. */
const heapMegabytes = 256

export interface LimitedProcess {
  readonly child: ChildProcess
  /** What limits it. */
  readonly limit: string
  /** Of a process that has ended. */
  readonly remove: () => void
}

/** Runs with node. `options`: those of node. */
export function startLimited(args: readonly string[], options: string, cwd: string): LimitedProcess {
  const group = createGroup()
  const constrained = `--max-old-space-size=${heapMegabytes} --import=data:text/javascript,process.constrainedMemory=()=>${limitBytes}`
  const env = { ...process.env, NODE_OPTIONS: group ? options : `${options} ${constrained}` }
  const join = group ? `echo $$ > "${group}/cgroup.procs" && ` : ''
  const command = ['-c', `${join}exec "$@"`, 'sh', process.execPath, ...args]
  const child = spawn('sh', command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  return {
    child,
    limit: group ? `the control group ${group}` : `a heap of ${heapMegabytes} MB and constrainedMemory()`,
    remove: () => group && rmdirSync(group),
  }
}

/** Its directory; undefined where the system has none that this process may make. */
function createGroup(): string | undefined {
  const own = readFileSync('/proc/self/cgroup', 'utf8')
  const name = `swapgate-memory-${process.pid}`
  const first = /^\d+:memory:(.*)$/m.exec(own)?.[1]
  const second = /^0::(.*)$/m.exec(own)?.[1]
  return (
    (first && limited(join('/sys/fs/cgroup/memory', first, name), 'memory.limit_in_bytes')) ||
    // A group of version 2 that has processes can have no groups with limits below it.
    (second && limited(join('/sys/fs/cgroup', dirname(second), name), 'memory.max'))
  )
}

function limited(directory: string, file: string): string | undefined {
  try {
    mkdirSync(directory)
  } catch {
    return undefined
  }
  const path = join(directory, file)
  if (existsSync(path)) {
    writeFileSync(path, String(limitBytes))
    return directory
  }
  rmdirSync(directory)
  return undefined
}
