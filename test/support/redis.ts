/** Real Redis servers on loopback, which end with the test, also if it is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { redisProgram } from './redis-program.ts'

/** Ends the server with its parent, however that ended: the shell's input ends when the test does. */
const keeper = `
directory=$1; program=$2; shift 2
bash -c 'exec -a redis-server "$0" "$@"' "$program" "$@" >/dev/null 2>&1 &
echo $!
trap 'kill -KILL $! 2>/dev/null; kill -CONT $! 2>/dev/null' EXIT
read -r word
if [ "$word" != keep ]; then kill -KILL $!; rm -rf "$directory"; fi
`

export class RedisServer implements AsyncDisposable {
  readonly port: number
  private readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-redis-'))
  private readonly program: string
  private readonly settings: readonly string[]
  /** Of the configuration; sentinels need one. */
  private file = ''
  private shell: ChildProcess | undefined
  private pid = 0

  private constructor(program: string, port: number, settings: readonly string[]) {
    this.program = program
    this.port = port
    this.settings = settings
  }

  /** Running and responding. `settings` as on the command line of Redis. */
  static async start(...settings: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await redisProgram(), await freePort(), settings)
    await server.start()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** A sentinel that alone decides to replace the master that it calls `group`. `settings`: more lines of its configuration. */
  static async startSentinel(master: RedisServer, ...settings: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await redisProgram(), await freePort(), ['--sentinel'])
    server.file = join(server.directory, 'sentinel.conf')
    const watched = [`monitor group 127.0.0.1 ${master.port} 1`, 'down-after-milliseconds group 500', 'failover-timeout group 2000']
    writeFileSync(server.file, [...watched.map((line) => `sentinel ${line}`), ...settings, ''].join('\n'))
    await server.start()
    return server
  }

  /** Again, after it was killed: with its saved data, by default none. */
  async start(...more: readonly string[]): Promise<void> {
    const own = [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--dir',
      this.directory,
      '--save',
      '',
      '--appendonly',
      'no',
      '--repl-diskless-sync-delay',
      '0',
    ]
    const configured = this.file === '' ? [] : [this.file]
    const shell = spawn(
      'bash',
      ['-c', keeper, 'keeper', this.directory, this.program, ...configured, ...own, ...this.settings, ...more],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    )
    this.shell = shell
    this.pid = Number(String((await once(shell.stdout, 'data'))[0]))
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(20)) {
      if ((await this.response(protocol(['PING'])).catch(() => '')) !== '') return
      if (shell.exitCode !== null) break
    }
    throw new Error(`Redis did not start on port ${this.port}`)
  }

  /** SIGKILL at this instant. */
  async kill(): Promise<void> {
    const { shell } = this
    if (!shell || shell.exitCode !== null) return
    const ended = once(shell, 'close')
    shell.stdin?.end('keep\n')
    await ended
  }

  /** SIGSTOP: it stands still, its connections open. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** The reply of Redis to a command, in its protocol. Throws on an error, or after two seconds without a reply. */
  async command(...words: readonly string[]): Promise<string> {
    return refused(await this.response(protocol(words)))
  }

  async commandAs(password: string, ...words: readonly string[]): Promise<string> {
    const response = await this.response(protocol(['AUTH', password]) + protocol(words))
    return refused(response.replace(/^\+OK\r\n(?=.)/, ''))
  }

  /** Whether it has all that its master has. */
  async isFollowing(): Promise<boolean> {
    return (await this.command('INFO', 'replication')).includes('master_link_status:up')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.directory, { recursive: true, force: true })
  }

  private async response(bytes: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1').setTimeout(2_000, () => socket.destroy(new Error('Redis is silent.')))
    try {
      socket.write(bytes)
      return String((await once(socket, 'data'))[0])
    } finally {
      socket.destroy()
    }
  }
}

function protocol(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`
}

function refused(response: string): string {
  if (response.startsWith('-')) throw new Error(response.trim())
  return response
}

/** Below the range of connections that go out; a cluster also takes the port 10,000 above. */
async function freePort(): Promise<number> {
  const port = 12_000 + Math.floor(Math.random() * 8_000)
  const probes = [port, port + 10_000].map((candidate) => createServer().listen(candidate, '127.0.0.1'))
  const results = await Promise.allSettled(probes.map((probe) => once(probe, 'listening')))
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  return results.every(({ status }) => status === 'fulfilled') ? port : await freePort()
}
