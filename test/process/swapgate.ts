/** The real process, started with a configuration of its own on free ports. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundledProgram } from '../support/bundle.ts'
import { recordOutput } from '../support/leak-check.ts'
import { ownLoad } from '../support/own-load.ts'

const assets = `- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }
- { coin: ETH, name: Ethereum, networks: [ { network: ETH, code: ETH } ] }`

/** A directory with `gateway.yaml` and its assets. */
export class ConfigDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'swapgate-process-'))

  /** The path of the file. */
  write(gateway: string): string {
    const file = join(this.path, 'gateway.yaml')
    writeFileSync(file, gateway)
    writeFileSync(join(this.path, 'assets.yaml'), assets)
    return file
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true })
  }
}

export interface Ended {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
  /** What it wrote to standard error that is no line of the log, or one of what went wrong with itself. */
  readonly complaints: string
}

/** The program as a clone has it, module by module. */
export const sourceProgram = join(process.cwd(), 'src/cli/swapgate.js')

interface Surroundings {
  /** The bundle unless given. */
  readonly program?: string
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
  /** That of the configuration unless given, so that no ledger of the clone is touched. */
  readonly cwd?: string
  readonly stderr?: number
}

function directoryOf(args: readonly string[]): string {
  const file = args[args.indexOf('--config') + 1]
  return args.includes('--config') && file !== undefined ? dirname(file) : process.cwd()
}

export class Swapgate implements AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  private out = ''
  private err = ''

  /** `stderr`: a file descriptor in place of a pipe that is read. */
  constructor(
    args: readonly string[],
    { program = bundledProgram(), node = process.execPath, env = {}, cwd = directoryOf(args), stderr }: Surroundings = {},
  ) {
    this.child = spawn(node, [program, ...args], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: ownLoad, ...env },
      stdio: ['pipe', 'pipe', stderr ?? 'pipe'],
    })
    this.child.stdout?.on('data', (chunk) => {
      this.out += chunk
    })
    this.child.stderr?.on('data', (chunk) => {
      this.err += chunk
      if (args[0] === 'start') recordOutput('log', chunk)
    })
    this.ended = once(this.child, 'close').then(([exitCode]) => ({
      exitCode,
      out: this.out,
      err: this.err,
      complaints: complaintsIn(this.err),
    }))
  }

  /** The URLs of the first line, by service. Throws if the process ends before. */
  async urls(): Promise<ReadonlyMap<string, string>> {
    while (!this.out.includes('\n')) {
      const next = once(this.child.stdout as NodeJS.ReadableStream, 'data')
      const ended = await Promise.race([next.then(() => undefined), this.ended])
      if (ended) throw new Error(`it ended with ${ended.exitCode}: ${ended.err}`)
    }
    const [line = ''] = this.out.split('\n')
    return new Map([...line.matchAll(/([a-zA-Z ]+) (http:\S+?)(?=,|$)/g)].map(([, what = '', url = '']) => [what.trim(), url]))
  }

  get printed(): readonly string[] {
    return this.out.trim().split('\n')
  }

  /** All its output so far, standard output and errors. */
  outputText(): string {
    return this.out + this.err
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

const harmless = /^\{"level":"(?:info|warn)",.*\}$/

function complaintsIn(err: string): string {
  return err
    .split('\n')
    .filter((line) => !harmless.test(line))
    .join('\n')
}
