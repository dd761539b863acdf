/** One of the processes that share the public port (`server.workers`). The primary, of `workers.ts`, says what it runs with and when it stops. */

import type { ListeningSocket } from '../adapters/http/server.ts'
import { openStderr } from '../adapters/log/stderr.ts'
import { type Config, loadConfigInThread, type Ports } from '../config/index.ts'
import type { SandboxControl } from '../domain/sandbox-event.ts'
import { knownForms } from '../forms/index.ts'
import { Channel } from './channel.ts'
import { beatMs } from './heartbeats.ts'
import { remoteLimitStores } from './limit-stores.ts'
import { type Running, start } from './start.ts'
import { withStartSettings } from './start-settings.ts'
import type { Assignment } from './workers.ts'

/** Runs until the primary says so, or has ended. Returns 1 after an unhandled failure. */
export async function runWorker(file: string, ports: Ports): Promise<0 | 1> {
  const stopping = Promise.withResolvers<0 | 1>()
  let running: Running | undefined
  const started = Promise.withResolvers<Running>()
  /** Of workers that hang, by id: how accepting for them ends. */
  const accepted = new Map<number, () => void>()
  let inherited: ListeningSocket | undefined
  const channel = new Channel(process, {
    inherit(socket: ListeningSocket) {
      inherited = socket
    },
    metrics: () => running?.collectMetrics() ?? [],
    creates: () => running?.createsInFlight() ?? [],
    // Also while it starts: with what was in force before.
    reload: async (texts: Config['texts']) => reload(await started.promise, () => read(texts)),
    accept(id: number, socket: ListeningSocket) {
      const end = running?.listener?.accept(socket)
      if (end) accepted.set(id, end)
    },
    release(id: number) {
      accepted.get(id)?.()
      accepted.delete(id)
    },
    stop: () => stopping.resolve(0),
  })
  process.once('disconnect', () => stopping.resolve(0))
  // A terminal sends them to all processes: the primary decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  const fail = (reason: unknown): void => {
    running?.logError('unhandled failure', reason)
    stopping.resolve(1)
  }
  process.on('unhandledRejection', fail)
  process.on('uncaughtException', fail)
  const assignment = (await channel.call('assignment')) as Assignment
  const { texts, logReader, sandboxUrl } = assignment
  const shared = { ...assignment.shared, socket: inherited }
  const read = async (given: Config['texts']): Promise<Config> =>
    withStartSettings(await loadConfigInThread(file, knownForms, ports, given), assignment.started)
  const remoteLimits = remoteLimitStores((name, ...values) => channel.call(name, ...values))
  const sandbox = sandboxUrl === undefined ? undefined : remoteSandbox(sandboxUrl, channel)
  const stderr = { ...openStderr(false), ...logReader }
  running = await start(await read(texts), { stderr, processes: shared.count }, { is: 'worker', shared, remoteLimits, sandbox })
  started.resolve(running)
  const beating = setInterval(beat, beatMs, running, channel, () => stopping.resolve(0))
  const { socket } = running.listener ?? {}
  if (socket && !inherited) channel.giveSocket(socket, 'socket')
  // After the socket: a worker may hang as soon as it listens.
  channel.call('listening', running.urls.get('gateway')).catch(() => {})
  const exitCode = await stopping.promise
  channel.call('closing').catch(() => {})
  for (const end of accepted.values()) end()
  const isDone = await running.stop()
  clearInterval(beating)
  return isDone ? exitCode : process.exit(exitCode)
}

/** That of the primary. */
function remoteSandbox(url: string, channel: Channel): SandboxControl {
  return { url, drive: (id, event) => channel.call('driveSandbox', id, event) as ReturnType<SandboxControl['drive']> }
}

/** Throws after a line of the log: then the primary puts another worker in the place of this one. */
async function reload({ reconfigure, logError }: Running, read: () => Promise<Config>): Promise<void> {
  try {
    await reconfigure(await read())
  } catch (reason) {
    logError('the configuration could not be read again', reason)
    throw reason
  }
}

/** Node says nothing of a primary that ended while a socket was on its way to it. */
function beat({ level }: Running, channel: Channel, onLost: () => void): void {
  if (process.connected) channel.call('level', level()).catch(() => {})
  else onLost()
}
