/** util-linux: `swapgate start` under a terminal of its own, with the default configuration on free ports. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePorts, type Ports } from '../container/ports.ts'
import { bundledProgram } from './bundle.ts'
import { eventTimeoutMs } from './event-timeout.ts'
import { GatewayAccess } from './gateway-access.ts'
import { inPath } from './installation.ts'
import { recordOutput } from './leak-check.ts'
import { ownLoad } from './own-load.ts'

/** macOS has another `script`. */
export const hasTerminal = process.platform === 'linux' && inPath('script') !== undefined

export class TerminalGateway extends GatewayAccess implements AsyncDisposable {
  readonly directory: string
  readonly url: string
  readonly adminUrl: string
  /** What the terminal shows. */
  output = ''
  private readonly child: ChildProcess
  private readonly ended: Promise<unknown>

  private constructor(directory: string, { gateway, admin }: Ports) {
    super(join(directory, 'gateway.yaml'))
    this.directory = directory
    this.url = `http://127.0.0.1:${gateway}`
    this.adminUrl = `http://127.0.0.1:${admin}`
    const command = `echo $$ > process-id; exec '${process.execPath}' '${bundledProgram()}' start --config '${this.file}' 2> log`
    const env = { ...process.env, SHELL: '/bin/sh', NODE_OPTIONS: ownLoad }
    this.child = spawn('script', ['-qec', command, '/dev/null'], { cwd: directory, env })
    this.child.stdout?.on('data', (chunk) => {
      this.output += chunk
    })
    this.ended = once(this.child, 'close')
  }

  /** Once its last line is there. `edit`: of the configuration. */
  static async start(edit: (text: string) => string = (text) => text): Promise<TerminalGateway> {
    const ports = await freePorts()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-terminal-'))
    const standard = readFileSync('config/gateway.yaml', 'utf8').replace('sqlite:data', `sqlite:${directory}/data`)
    writeFileSync(join(directory, 'gateway.yaml'), edit(ports.move(standard)))
    copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
    const gateway = new TerminalGateway(directory, ports)
    const printed = expect.poll(() => gateway.output, { timeout: eventTimeoutMs }).toMatch(/#token=\S+\s|admin: \{ tokens:/)
    await printed.catch(async (reason) => {
      await gateway[Symbol.asyncDispose]()
      throw reason
    })
    return gateway
  }

  /** What it has logged. */
  get log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8')
  }

  /** Of the page, with the token; empty if none was printed. */
  get pageUrl(): string {
    return /http:\S+#token=\S+/.exec(this.output)?.[0] ?? ''
  }

  get token(): string {
    return this.pageUrl.replace(/^.*#token=/, '')
  }

  get processId(): number {
    return Number(readFileSync(join(this.directory, 'process-id'), 'utf8'))
  }

  /** Applies another configuration. */
  async reload(edit: (text: string) => string): Promise<void> {
    const before = this.reloads()
    writeFileSync(this.file, edit(readFileSync(this.file, 'utf8')))
    await expect.poll(() => this.reloads(), { timeout: eventTimeoutMs }).toBe(before + 1)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    process.kill(this.processId, signal)
    await this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && existsSync(join(this.directory, 'process-id'))) await this.stop('SIGKILL')
    recordOutput('log', this.log)
    rmSync(this.directory, { recursive: true })
  }

  private reloads(): number {
    return this.output.split('the configuration was read again').length - 1
  }
}
