/**
 * The processes that share the public port (`server.workers`). This one, the primary, has what there is once: the port for operators, the
 * background work, and without Redis the limits. The workers have the public port and nothing else; each is a replica to the ledger. SIGTERM goes
 * to all, and they end with the primary. What a worker had not accepted when it ended, others or its successor take (on Linux).
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { ListeningSocket } from '../adapters/http/server.ts'
import { openStderr, type Stderr } from '../adapters/log/stderr.ts'
import { type CollectedMetrics, countsOf } from '../adapters/metrics/collected.ts'
import { type Config, mayColour } from '../config/index.ts'
import type { LoadLevel } from '../core/access/admission.ts'
import { withDefault, withTimeout } from '../domain/async.ts'
import type { Observer } from '../domain/observation.ts'
import type { SandboxControl } from '../domain/sandbox-event.ts'
import { Channel } from './channel.ts'
import { beatMs, Heartbeats, type ListeningWorker } from './heartbeats.ts'
import type { LimitStores } from './limit-stores.ts'
import { type SharedPort, withListenError } from './ports.ts'
import { type StartSettings, startSettings } from './start-settings.ts'

/** Milliseconds. Also for another configuration: a worker may be starting. */
const startTimeoutMs = 60_000
const metricsTimeoutMs = 1_000
const abandonTimeoutMs = 300
/** What a worker has counted since the last time is lost when it is killed. */
const metricsIntervalMs = 5_000
/** A worker that ended is started again after this time, and after twice the time for each that ended within `stableMs`. */
const restartDelayMs = { first: 100, longest: 30_000 }
const stableMs = 10_000
/** What a worker needs to end besides its times of the configuration. */
const endMarginMs = 5_000

/** 1 where `server.workers` is 1, or where there is one processor. */
export function workerCount({ server: { workers } }: Config): number {
  return workers === 'auto' ? availableParallelism() : workers
}

/** What each worker starts from, and one that takes another's place later too: as this process has read it, whatever the files have by now. */
export interface Assignment {
  readonly shared: SharedPort
  readonly started: StartSettings
  /** Of the configuration in force. */
  readonly texts: Config['texts']
  /** That of the sandbox, which runs in this process; undefined if none does. */
  readonly sandboxUrl: string | undefined
  /** Who reads its log, through this process. */
  readonly logReader: Pick<Stderr, 'isTerminal' | 'hasColours'>
}

class RunningWorker implements ListeningWorker<RunningWorker> {
  readonly worker: Worker
  readonly channel: Channel
  readonly startedAt = performance.now()
  readonly url: Promise<string>
  level: LoadLevel = 0
  /** As last collected. */
  metrics: CollectedMetrics = []
  /** A copy, for others to accept on while it hangs, and for the one that takes its place. */
  socket: ListeningSocket | undefined
  /** Whose place it takes, until it listens. */
  predecessor: RunningWorker | undefined

  constructor(worker: Worker, channel: Channel, url: Promise<string>, predecessor: RunningWorker | undefined) {
    this.worker = worker
    this.channel = channel
    this.url = url
    this.predecessor = predecessor
  }

  accept({ worker, socket }: RunningWorker): void {
    if (socket) this.channel.giveSocket(socket, 'accept', worker.id)
  }

  release({ worker }: RunningWorker): void {
    this.channel.call('release', worker.id).catch(() => {})
  }

  kill(): void {
    this.worker.process.kill('SIGKILL')
  }
}

export class Workers {
  private assignment: Assignment
  private readonly stderr: Stderr
  private readonly limits: LimitStores
  private readonly sandbox: SandboxControl | undefined
  private readonly observe: Observer
  private readonly endTimeoutMs: number
  private readonly running = new Set<RunningWorker>()
  /** Of workers that have ended: counts never go back. */
  private ended: readonly CollectedMetrics[] = []
  private delayMs = restartDelayMs.first
  private readonly collecting = setInterval(() => this.metrics(), metricsIntervalMs).unref()
  private readonly heartbeats: Heartbeats<RunningWorker>
  private readonly beating = setInterval(() => this.beat(), beatMs).unref()
  private longestWorkMs: number
  private isStopping = false

  private constructor(
    config: Config,
    shared: SharedPort,
    limits: LimitStores,
    sandbox: SandboxControl | undefined,
    observe: Observer,
  ) {
    const { server, texts } = config
    this.stderr = openStderr(mayColour())
    const { isTerminal, hasColours } = this.stderr
    this.assignment = {
      shared,
      started: startSettings(config),
      texts,
      sandboxUrl: sandbox?.url,
      logReader: { isTerminal, hasColours },
    }
    this.limits = limits
    this.sandbox = sandbox
    this.observe = observe
    this.heartbeats = new Heartbeats(shared.count)
    this.longestWorkMs = longestWorkOf(config)
    this.endTimeoutMs = (server.shutdownDelay + server.drain) * 1_000 + endMarginMs
  }

  /** Starts all workers, and returns when each listens. Throws if one does not. */
  static async start(
    config: Config,
    limits: LimitStores,
    sandbox: SandboxControl | undefined,
    observe: Observer,
  ): Promise<Workers & { readonly url: string }> {
    const { host } = config.server
    const port = await withListenError('server', config.server, () => freePort(host, config.server.port))
    const workers = new Workers(config, { port, count: workerCount(config) }, limits, sandbox, observe)
    cluster.setupPrimary({ serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    try {
      const started = Array.from({ length: workers.assignment.shared.count }, () => workers.fork())
      const [url = ''] = await Promise.all(started.map((worker) => worker.url))
      return Object.assign(workers, { url })
    } catch (reason) {
      await workers.stop()
      throw reason
    }
  }

  /** The lowest level of those that accept: a new connection may go to any of them. */
  get level(): LoadLevel {
    const levels = this.heartbeats.beating.map(({ level }) => level)
    return levels.length === 0 ? 3 : (Math.min(...levels) as LoadLevel)
  }

  /** Process ids of those that hang. */
  get silent(): readonly number[] {
    return this.heartbeats.silent.map(idOf)
  }

  /** Of all workers, and of those that have ended. One that does not answer counts as last collected. */
  async metrics(): Promise<readonly CollectedMetrics[]> {
    const silent = new Set(this.heartbeats.silent)
    const collected = [...this.running].map(async (running) => {
      if (silent.has(running)) return running.metrics
      const call = running.channel.call('metrics') as Promise<CollectedMetrics>
      running.metrics = await withDefault(call, metricsTimeoutMs, running.metrics)
      return running.metrics
    })
    const { ended } = this
    return [...ended, ...(await Promise.all(collected))]
  }

  /** Each worker gets the configuration that is in force here by now, one after another. One that does not follow is replaced. */
  async reload(config: Config): Promise<void> {
    const { texts } = config
    this.longestWorkMs = longestWorkOf(config)
    this.assignment = { ...this.assignment, texts }
    for (const running of this.running) {
      const followed = running.channel.call('reload', texts).then(() => true)
      const hasFollowed = await withDefault(followed, startTimeoutMs, false)
      if (!hasFollowed && this.running.has(running)) await this.end(running)
    }
  }

  /** Lets the requests in flight finish, in all workers at once. */
  async stop(): Promise<void> {
    this.isStopping = true
    clearInterval(this.collecting)
    clearInterval(this.beating)
    for (const ended of this.heartbeats.ended) this.closeSocket(ended)
    await Promise.all([...this.running].map((running) => this.end(running)))
  }

  /** Kills all. Returns the creates that were in flight in those that still answer. */
  async abandon(): Promise<readonly string[]> {
    this.isStopping = true
    const running = [...this.running]
    const named = running.map(({ channel }) =>
      withDefault(channel.call('creates') as Promise<readonly string[]>, abandonTimeoutMs, []),
    )
    const creates = (await Promise.all(named)).flat()
    for (const each of running) each.kill()
    return creates
  }

  private beat(): void {
    for (const silent of this.heartbeats.beat(this.longestWorkMs)) this.observe({ what: 'workerSilent', id: idOf(silent) })
  }

  /** It listens. */
  private takePlace(running: RunningWorker): void {
    const { predecessor } = running
    this.heartbeats.add(running, predecessor)
    if (!predecessor) return
    running.socket = predecessor.socket
    running.predecessor = undefined
    predecessor.socket = undefined
  }

  /** Its listening socket ends with that of the worker. */
  private closeSocket(running: RunningWorker): void {
    this.heartbeats.delete(running)
    running.socket?.close()
    running.socket = undefined
  }

  private async end(running: RunningWorker): Promise<void> {
    const { worker, channel } = running
    const exited = once(worker, 'exit')
    channel.call('stop').catch(() => {})
    if (
      await withDefault(
        exited.then(() => true),
        this.endTimeoutMs,
        false,
      )
    )
      return
    running.kill()
    await exited
  }

  /** `predecessor`: what waits at its socket waits for this one. */
  private fork(predecessor?: RunningWorker): RunningWorker {
    const worker = cluster.fork()
    const listening = Promise.withResolvers<string>()
    const { limiter, verifiedKeys, refusedAddresses, budgets, winners } = this.limits
    const channel = new Channel(worker, {
      assignment: () => {
        const { socket } = running.predecessor ?? {}
        if (socket) channel.giveSocket(socket, 'inherit')
        return this.assignment
      },
      listening: (url: string) => {
        this.takePlace(running)
        listening.resolve(url)
      },
      socket: (socket: ListeningSocket) => {
        running.socket = socket
      },
      closing: () => this.closeSocket(running),
      // Sent with every beat.
      level: (level: LoadLevel) => {
        running.level = level
      },
      consume: limiter.consume,
      isVerified: verifiedKeys.has,
      verify: verifiedKeys.add,
      isRefused: refusedAddresses.has,
      refuse: refusedAddresses.add,
      reserve: budgets.reserve,
      saveWinner: winners.save,
      findWinner: winners.find,
      ...(this.sandbox && { driveSandbox: this.sandbox.drive }),
    })
    const url = withTimeout(listening.promise, startTimeoutMs, () => {
      throw new Error('a worker did not start in time')
    })
    const running = new RunningWorker(worker, channel, url, predecessor)
    url.catch(() => running.kill())
    worker.on('message', () => this.heartbeats.hear(running))
    this.running.add(running)
    this.observe({ what: 'workers', running: this.running.size })
    passLines(worker, this.stderr)
    const end = (result: string): void => {
      listening.reject(new Error(`a worker ended with ${result}`))
      void this.onEnd(running, result)
    }
    worker.once('exit', (code, signal) => end(signal ?? String(code)))
    // One that could not be started has no exit. What else fails, like a message, has its own.
    worker.on('error', () => worker.process.pid === undefined && end('no process'))
    return running
  }

  private async onEnd(running: RunningWorker, result: string): Promise<void> {
    this.running.delete(running)
    running.channel.close()
    void this.keepCounts(running.metrics)
    if (this.isStopping || !running.socket) this.closeSocket(running)
    else this.heartbeats.end(running)
    if (this.isStopping) return
    this.observe({ what: 'workers', running: this.running.size, ended: result })
    const isStable = performance.now() - running.startedAt > stableMs
    this.delayMs = isStable ? restartDelayMs.first : Math.min(2 * this.delayMs, restartDelayMs.longest)
    await wait(this.delayMs, undefined, { ref: false }) // a process that stops meanwhile does not wait for it
    if (!this.isStopping) this.fork(running.socket ? running : running.predecessor)
  }

  /** Counted from now on, and soon as one with those before. */
  private async keepCounts(metrics: CollectedMetrics): Promise<void> {
    const all = [...this.ended, metrics]
    this.ended = all
    const counts = await countsOf(all)
    if (this.ended === all) this.ended = [counts]
  }
}

function idOf({ worker }: RunningWorker): number {
  return worker.process.pid ?? 0
}

/** Milliseconds. A create ends by then. */
function longestWorkOf({ providers }: Config): number {
  return 1_000 * Math.max(0, ...providers.map(({ timeout }) => timeout))
}

/** The port, or a free one for 0. Throws if another process listens at it: the system lets several do so if all of them want it. */
async function freePort(host: string, port: number): Promise<number> {
  const server = createServer()
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : port
}

/** The log of a worker becomes that of this process, a whole line at a time. */
function passLines({ process: { stderr } }: Worker, { write }: Stderr): void {
  if (!stderr) return
  createInterface(stderr).on('line', (line) => write(`${line}\n`, () => {}))
}
