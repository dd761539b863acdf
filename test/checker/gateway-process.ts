/** The real gateway in a process of its own, on ports that stay the same over restarts. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { bundledProgram } from '../support/bundle.ts'
import { freePort } from '../support/free-port.ts'
import { GatewayAccess } from '../support/gateway-access.ts'
import { recordOutput } from '../support/leak-check.ts'
import { ownLoad } from '../support/own-load.ts'
import { type GatewaySettings, type Place, writeConfiguration } from './configuration.ts'

/** Ends a process with its parent, so that none is left behind. */
const endWithParent = `--import=data:text/javascript,${encodeURIComponent(
  'import{stdin}from"node:process";stdin.resume().on("end",()=>process.kill(process.pid,"SIGKILL")).unref()',
)}`

export class GatewayProcess extends GatewayAccess implements AsyncDisposable {
  readonly url: string
  readonly adminUrl: string
  /** Over all its lives. */
  output = ''
  private child: ChildProcess | undefined
  private ended: Promise<unknown> = Promise.resolve()

  private readonly nodeOptions: string

  private constructor(file: string, { host = '127.0.0.1', server, admin }: Place, nodeOptions: string) {
    super(file)
    this.nodeOptions = nodeOptions
    this.url = `http://${host}:${server}`
    this.adminUrl = `http://${host}:${admin}`
  }

  /** Running and ready. */
  static async start(settings: GatewaySettings): Promise<GatewayProcess> {
    const { place = { server: await freePort(20_000, 12_000), admin: await freePort(20_000, 12_000) } } = settings
    const gateway = new GatewayProcess(writeConfiguration(settings, place), place, settings.nodeOptions ?? '')
    await gateway.start()
    return gateway
  }

  /** Again, after it ended. Resolves once it is ready; throws its error output if it ended instead. */
  async start(): Promise<void> {
    const env = { ...process.env, NODE_OPTIONS: `${endWithParent} ${ownLoad} ${this.nodeOptions}` }
    const child = spawn(process.execPath, [bundledProgram(), 'start', '--config', this.file], { env })
    this.child = child
    this.ended = once(child, 'close')
    const before = this.output.length
    const listens = Promise.withResolvers<void>()
    const collect = (chunk: Buffer): void => {
      this.output += chunk
      recordOutput('log', chunk)
    }
    child.stderr.on('data', collect)
    child.stdout.on('data', collect).once('data', () => listens.resolve())
    const hasEnded = this.ended.then(() => true)
    const isOver = await Promise.race([listens.promise.then(() => this.ready(child)), hasEnded])
    if (isOver) throw new Error(`the gateway did not start: ${this.output.slice(before)}`)
  }

  /** SIGKILL at this instant. */
  async kill(): Promise<void> {
    await this.end('SIGKILL')
  }

  /** SIGTERM: it finishes what it does. */
  async stop(): Promise<void> {
    await this.end('SIGTERM')
  }

  /** SIGSTOP: it stands still, its connections open, until `thaw`. */
  freeze(): void {
    this.child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.child?.kill('SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  /** It listens, and may report overload for as long as the machine is busy. True if it ended. */
  private async ready(child: ChildProcess): Promise<boolean> {
    for (; child.exitCode === null && child.signalCode === null; await wait(50)) {
      const response = await fetch(`${this.adminUrl}/readyz`).catch(() => undefined)
      if (response?.status === 200) return false
    }
    return true
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.child?.kill(signal)
    await this.ended
  }
}
