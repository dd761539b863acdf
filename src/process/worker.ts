/** One of the processes that share the public port (`server.workers`). The primary, of `workers.ts`, says what it runs with and when it stops. */
import { openStderr } from '../adapters/log/stderr.ts'
import { type Config, loadConfigInThread, type Ports } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { type Running, start } from '../main.ts'
import { Channel } from './channel.ts'
import { remoteLimitStores } from './limit-stores.ts'
import { withStartSettings } from './start-settings.ts'
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
    // Also while it starts: with what was in force before.
    reload: async (texts: Config['texts']) => reload(await started.promise, () => read(texts)),
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
  const { shared, texts, logReader } = assignment
  const read = async (given: Config['texts']): Promise<Config> =>
    withStartSettings(await loadConfigInThread(file, knownForms, ports, given), assignment.started)
  const remoteLimits = remoteLimitStores((name, ...values) => channel.call(name, ...values))
  const stderr = { ...openStderr(false), ...logReader }
  running = await start(await read(texts), { stderr, processes: shared.count }, { is: 'worker', shared, remoteLimits })
  started.resolve(running)
  await channel.call('listening', running.urls.get('gateway'))
  const stopTelling = tellLevel(running, channel)
  const exitCode = await stopping.promise
  stopTelling()
  const isDone = await running.stop()
  return isDone ? exitCode : process.exit(exitCode)
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

function tellLevel({ level }: Running, channel: Channel): () => void {
  let told = 0
  const timer = setInterval(() => {
    if (level() === told) return
    told = level()
    channel.call('level', told).catch(() => {})
  }, levelIntervalMs)
  return () => clearInterval(timer)
}
