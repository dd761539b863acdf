/** One core for the gateway under test, one for the load (wrk) and the provider. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { transaction } from './transaction.ts'

const connections = 32
export const cores = { gateway: '0', load: '1' }
/** Of a get over a Form B provider that is called beta. */
export const path = `/a/api/v2/transactions/beta~${transaction.id}`
export const authorization = 'Bearer bench-key'

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Runs on the core once it has printed its first line, and ends with this process; `log`: the descriptor of the file that its log goes to. */
export async function start(core: string, args: readonly string[], log?: number): Promise<ChildProcess> {
  const child = spawnOn(core, [process.execPath, ...args], log)
  const [line] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')])
  if (child.exitCode !== null || !String(line).trim()) throw new Error(`${args.join(' ')} printed nothing`)
  return child
}

/** Runs a program that prints nothing on the core, once it listens at the port. */
export async function startListening(core: string, command: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawnOn(core, command)
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended with ${child.exitCode}`)
    await wait(20)
  }
  return child
}

function spawnOn(core: string, command: readonly string[], log?: number): ChildProcess {
  const child = spawn('taskset', ['-c', core, ...command], { stdio: ['ignore', 'pipe', log ?? 'inherit'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

export interface Load {
  readonly perSecond: number
  readonly requests: number
  readonly failures: string
}

interface LoadOptions {
  /** Path of the requests. */
  readonly path?: string
  readonly authorization?: string
  readonly connections?: number
  /** A file of wrk's language. */
  readonly script?: string
}

/** `options.path` is a get of a transaction unless it is given. */
export function load(port: number, seconds: number, options: LoadOptions = {}): Load {
  const url = `http://127.0.0.1:${port}${options.path ?? path}`
  const command = ['-c', cores.load, 'wrk', '-t1', `-c${options.connections ?? connections}`, `-d${seconds}s`]
  const script = options.script === undefined ? [] : ['-s', options.script]
  const headers = ['-H', options.authorization ?? `Authorization: ${authorization}`]
  const report = execFileSync('taskset', [...command, ...headers, ...script, url], { encoding: 'utf8' })
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1])
  const requests = Number(/(\d+) requests in/.exec(report)?.[1])
  return { perSecond, requests, failures: /Non-2xx.*|Socket errors.*/.exec(report)?.[0] ?? '' }
}

/** Time that a process and those that it has started have had of their core so far, in microseconds. */
export function processorTime({ pid }: Pick<ChildProcess, 'pid'>): number {
  const threads = `/proc/${pid}/task`
  const times = readdirSync(threads).map((id) => Number(readFileSync(`${threads}/${id}/schedstat`, 'utf8').split(' ')[0]) / 1000)
  const children = childrenOf(pid).map((child) => processorTime({ pid: child }))
  return [...times, ...children].reduce((sum, each) => sum + each, 0)
}

/** Ids of the processes that this one has started and that run. */
export function childrenOf(pid: number | undefined): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

/** Ends where a program is missing. */
export function requirePrograms(...packages: readonly string[]): void {
  for (const name of packages) {
    try {
      execFileSync('dpkg', ['-s', name], { stdio: 'ignore' })
    } catch {
      console.error(`${name} is needed: apt-get install ${packages.join(' ')}`)
      process.exit(1)
    }
  }
}

/** Ends where there is no wrk. */
export function requireWrk(): void {
  requirePrograms('wrk')
}
