/** `swapgate start` in this process: the same gateway, ports, log and reloads, without signals. A process of its own costs 0.5 s of processor. */
import { type FileGateway, startFromFile } from '../../src/process/reload.ts'
import { type GatewaySettings, writeConfiguration } from '../checker/configuration.ts'
import { GatewayAccess } from './gateway-access.ts'
import { recordOutput } from './leak-check.ts'

/** What else this process does is no load of the gateway. */
const loadSources = { now: () => 0, memoryShare: () => 0 }

export class InProcessGateway extends GatewayAccess implements AsyncDisposable {
  readonly url: string
  readonly adminUrl: string
  /** As on SIGHUP. */
  readonly reload: () => void
  private readonly lines: Lines
  private readonly gateway: FileGateway
  private stopped: Promise<boolean> | undefined

  private constructor(file: string, gateway: FileGateway, lines: Lines) {
    super(file)
    this.gateway = gateway
    this.lines = lines
    this.url = gateway.urls.get('gateway') ?? ''
    this.adminUrl = gateway.urls.get('admin') ?? ''
    this.reload = gateway.reload
  }

  /** From a file, or on free ports from settings. Throws its output if it does not start. */
  static async start(from: string | GatewaySettings): Promise<InProcessGateway> {
    const file = typeof from === 'string' ? from : writeConfiguration(from, { server: 0, admin: 0 })
    const lines = new Lines()
    const print = (line: string): void => lines.print(line)
    const stderr = {
      isTerminal: false,
      hasColours: false,
      write(text: string, done: () => void) {
        lines.add(text)
        done()
      },
    }
    const gateway = await startFromFile(file, {}, { isTerminal: false, out: print, err: print }, { stderr, loadSources })
    if (!gateway) throw new Error(`it ended with 1: ${lines.text}`)
    return new InProcessGateway(file, gateway, lines)
  }

  /** The lines of its standard output so far. */
  get printed(): readonly string[] {
    return this.lines.printed
  }

  get output(): string {
    return this.lines.text
  }

  /** As on SIGTERM. False if log lines could not be written. */
  stop(): Promise<boolean> {
    this.stopped ??= this.gateway.stop()
    return this.stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/** What a gateway prints and logs. */
class Lines {
  readonly printed: string[] = []
  text = ''

  print(line: string): void {
    this.printed.push(line)
    this.add(`${line}\n`)
  }

  add(text: string): void {
    this.text += text
    recordOutput('log', text)
  }
}
