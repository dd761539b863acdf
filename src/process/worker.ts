/** One of the processes that share the public port (`server.workers`). The primary, of `workers.ts`, says when it reads the configuration and stops. */
import { openStderr } from '../adapters/log/stderr.ts'
import { loadConfigInThread, type Ports } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { type Running, start } from '../main.ts'
import { Channel } from './channel.ts'
import { remoteLimitStores } from './limit-stores.ts'
import type { Assignment } from './workers.ts'

/** Milliseconds between two looks at the load. */
const levelIntervalMs = 250

/** Runs until the primary says so, or has ended. Returns 1 after an unhandled failure. */
export async function runWorker(file: string, ports: Ports): Promise<0 | 1> {
  const stopping = Promise.withResolvers<0 | 1>()
  let running: Running | undefined
  const started = Promise.withResolvers<Running>()
  const channel = new Channel(process, {
    metrics: () => running?.collectMetrics() ?? [],
    creates: () => running?.createsInFlight() ?? [],
    // Also while it starts: it may have read the file before the change.
    reload: async () => reload(file, ports, await started.promise),
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
  const { logReader, ...shared } = (await channel.call('assignment')) as Assignment
  const remoteLimits = remoteLimitStores((name, ...values) => channel.call(name, ...values))
  const config = await loadConfigInThread(file, knownForms, ports)
  const stderr = { ...openStderr(false), ...logReader }
  running = await start(config, { stderr, processes: shared.count }, { is: 'worker', shared, remoteLimits })
  started.resolve(running)
  await channel.call('listening', running.urls.get('gateway'))
  const stopTelling = tellLevel(running, channel)
  const exitCode = await stopping.promise
  stopTelling()
  const isDone = await running.stop()
  return isDone ? exitCode : process.exit(exitCode)
}

/** The primary has found the file valid. If it is not any more, the next change of it leads to another call. */
async function reload(file: string, ports: Ports, { reconfigure, logError }: Running): Promise<void> {
  try {
    await reconfigure(await loadConfigInThread(file, knownForms, ports))
  } catch (reason) {
    logError('the configuration could not be read again', reason)
  }
}

function tellLevel({ level }: Running, channel: Channel): () => void {
  let told = 0
  const timer = setInterval(() => {
    if (level() === told) return
    told = level()
    channel.call('level', told).catch(() => {})
  }, levelIntervalMs)
  return () => clearInterval(timer)
}
