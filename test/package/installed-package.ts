/** The package from `npm pack`, installed in an empty folder with the Node of the machine. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { freePorts, type Ports } from '../container/ports.ts'
import { memoryDirectory } from '../support/memory-directory.ts'

const quiet = ['--silent', '--no-audit', '--no-fund', '--no-update-notifier']

export class InstalledPackage implements Disposable {
  readonly archive: string
  /** Files in it, without those of the packages that come along. */
  readonly files: readonly string[]
  /** Where it is installed, with nothing beside it. */
  readonly folder: string
  private readonly place = mkdtempSync(join(memoryDirectory(), 'swapgate-package-'))

  constructor() {
    const name = execFileSync('npm', ['pack', ...quiet, '--pack-destination', this.place], { encoding: 'utf8' }).trim()
    this.archive = join(this.place, name)
    const list = execFileSync('tar', ['--list', '--file', this.archive], { encoding: 'utf8', maxBuffer: 2 ** 24 })
    const paths = list
      .trim()
      .split('\n')
      .map((path) => path.slice('package/'.length))
    this.files = paths.filter((path) => !path.startsWith('node_modules/'))
    this.folder = join(this.place, 'empty')
    mkdirSync(this.folder)
    // Of npm 11.16 and later: scripts of packages run without being asked for.
    execFileSync('npm', ['install', this.archive, '--prefer-offline', '--foreground-scripts', ...quiet], { cwd: this.folder, env })
  }

  /** Another file in the folder. */
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  /** A package of this clone beside it. */
  link(name: string): void {
    const path = join(this.folder, 'node_modules', name)
    if (!existsSync(path)) symlinkSync(join(process.cwd(), 'node_modules', name), path)
  }

  /** The ports of the configuration that comes along become free ones; nothing else of it changes. */
  async movePorts(): Promise<Ports> {
    const ports = await freePorts()
    const file = join(this.folder, 'node_modules/swapgate/config/gateway.yaml')
    writeFileSync(file, ports.move(readFileSync(file, 'utf8')))
    return ports
  }

  run(program: string, ...args: readonly string[]): string {
    return execFileSync(program, args, { cwd: this.folder, env, encoding: 'utf8' })
  }

  /** A program that is to end with another exit code than 0. */
  fail(program: string, ...args: readonly string[]): { readonly stdout: string } {
    const { status, stdout } = spawnSync(program, args, { cwd: this.folder, env, encoding: 'utf8' })
    if (status === 0) throw new Error(`${program} did not fail: ${stdout}`)
    return { stdout }
  }

  /** A command line of the shell. */
  shell(command: string): Shell {
    return new Shell(spawn('sh', ['-c', command], { cwd: this.folder, env, detached: true }))
  }

  [Symbol.dispose](): void {
    rmSync(this.place, { recursive: true })
  }
}

/** A program with its children, as a terminal has it. */
export class Shell implements AsyncDisposable {
  private out = ''
  private readonly child: ChildProcess
  private readonly ended: Promise<unknown[]>

  constructor(child: ChildProcess) {
    this.child = child
    this.ended = once(child, 'close')
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.out += chunk
      })
    }
  }

  get output(): string {
    return this.out
  }

  /** Ctrl+C, until all of them have ended. */
  async interrupt(): Promise<void> {
    this.signal('SIGINT')
    await this.ended
  }

  /** Ctrl+C where `script` of util-linux is the program: what runs under its terminal gets no signal of this group. */
  async typeInterrupt(): Promise<void> {
    this.child.stdin?.write('\u0003')
    await this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }

  private signal(name: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.child
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, name)
  }
}

/** Without the programs of this project: the user has none of them. */
const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.includes('node_modules'))
const env = { HOME: process.env.HOME, PATH: directories.join(delimiter), ...fromNpm() }

/** Where npm finds packages, and no other variable of npm in this process. */
function fromNpm(): Record<string, string | undefined> {
  const names = Object.keys(process.env).filter((name) => /^npm_config_(?:registry|cache|userconfig)$|_proxy$|CERT/i.test(name))
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}
