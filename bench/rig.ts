/** One core for the gateway under test, one for the load (wrk) and the provider. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { transaction } from './transaction.ts'

const connections = 32
export const cores = { gateway: '0', load: '1' }
/** Of a get over a Form B provider that is called beta. */
export const path = `/a/api/v2/transactions/beta~${transaction.id}`
export const authorization = 'Bearer bench-key'

/** Runs on the core once it has printed its first line, and ends with this process; `log`: the descriptor of the file that its log goes to. */
export async function start(core: string, args: readonly string[], log?: number): Promise<ChildProcess> {
  const stderr = log ?? 'inherit'
  const child = spawn('taskset', ['-c', core, process.execPath, ...args], { stdio: ['ignore', 'pipe', stderr] })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  const [line] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')])
  if (child.exitCode !== null || !String(line).trim()) throw new Error(`${args.join(' ')} printed nothing`)
  return child
}

export interface Load {
  readonly perSecond: number
  readonly requests: number
  readonly failures: string
}

export function load(port: number, duration: number): Load {
  const url = `http://127.0.0.1:${port}${path}`
  const args = ['-c', cores.load, 'wrk', '-t1', `-c${connections}`, `-d${duration}s`, '-H', `Authorization: ${authorization}`, url]
  const report = execFileSync('taskset', args, { encoding: 'utf8' })
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1])
  const requests = Number(/(\d+) requests in/.exec(report)?.[1])
  return { perSecond, requests, failures: /Non-2xx.*|Socket errors.*/.exec(report)?.[0] ?? '' }
}

/** Time that a process has had of its core so far, in microseconds. */
export function processorTime({ pid }: ChildProcess): number {
  const threads = `/proc/${pid}/task`
  const times = readdirSync(threads).map((id) => Number(readFileSync(`${threads}/${id}/schedstat`, 'utf8').split(' ')[0]))
  return times.reduce((sum, each) => sum + each, 0) / 1000
}

/** Ends where there is no wrk. */
export function requireWrk(): void {
  try {
    execFileSync('which', ['wrk'])
  } catch {
    console.error('wrk is needed: apt-get install wrk')
    process.exit(1)
  }
}
