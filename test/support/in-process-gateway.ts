/** `swapgate start` in this process: the same gateway, ports, log and reloads, without signals. A process of its own costs 0.5 s of processor. */
import { type FileGateway, startFromFile } from '../../src/cli/file-gateway.ts'
import { keepRemains } from './remains.ts'

/** What else this process does is no load of the gateway. */
const loadSources = { now: () => 0, memoryShare: () => 0 }

export class InProcessGateway implements AsyncDisposable {
  /** The base URLs by name. */
  readonly urls: ReadonlyMap<string, string>
  /** Without a mount. */
  readonly url: string
  /** Where `/metrics` is. */
  readonly adminUrl: string
  /** As on SIGHUP. */
  readonly reload: () => void
  private readonly output: Output
  private readonly gateway: FileGateway
  private stopped: Promise<boolean> | undefined

  private constructor(gateway: FileGateway, output: Output) {
    this.gateway = gateway
    this.output = output
    this.urls = gateway.urls
    this.url = gateway.urls.get('gateway') ?? ''
    this.adminUrl = gateway.urls.get('admin') ?? ''
    this.reload = gateway.reload
  }

  /** Throws its output if it does not start. */
  static async start(file: string): Promise<InProcessGateway> {
    const output: Output = { printed: [], text: '' }
    const add = (text: string): void => {
      output.text += text
      keepRemains('log', text)
    }
    const print = (line: string): void => {
      output.printed.push(line)
      add(`${line}\n`)
    }
    const stderr = {
      isTerminal: false,
      write(text: string, done: () => void) {
        add(text)
        done()
      },
    }
    const gateway = await startFromFile(file, { out: print, err: print }, { stderr, loadSources })
    if (!gateway) throw new Error(`it ended with 1: ${output.text}`)
    return new InProcessGateway(gateway, output)
  }

  /** The lines of its standard output so far. */
  get printed(): readonly string[] {
    return this.output.printed
  }

  /** What it printed and logged so far. */
  outputText(): string {
    return this.output.text
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

interface Output {
  readonly printed: string[]
  text: string
}
