/** nginx or HAProxy in front of a server on loopback, with its log of every request. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { type Program, programOf } from './program.ts'

/** A request as one side has framed it. */
export interface Frame {
  readonly method: string
  readonly path: string
  readonly body: string
}

interface Kind extends Program {
  /** What it writes to its output, or to `access.log`, is a line of JSON for each request. */
  readonly configuration: (port: number, upstream: number) => string
  readonly options: readonly string[]
}

export class FrontProxy implements AsyncDisposable {
  readonly port: number
  private readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-proxy-'))
  private readonly child: ChildProcess
  private readCount = 0

  private constructor(program: string, { configuration, options }: Kind, port: number, upstream: number) {
    this.port = port
    writeFileSync(join(this.directory, 'proxy.conf'), configuration(port, upstream))
    const [out, err] = ['access.log', 'error.log'].map((name) => openSync(join(this.directory, name), 'a'))
    this.child = spawn(program, options, { cwd: this.directory, stdio: ['ignore', out, err] })
  }

  /** Responding. */
  static async start(name: keyof typeof kinds, upstream: number): Promise<FrontProxy> {
    // Debian's packages would start them as services.
    process.env.RUNLEVEL = '1'
    const proxy = new FrontProxy(await programOf(kinds[name]), kinds[name], await freePort(12_000, 8_000), upstream)
    for (const deadline = Date.now() + 5_000; Date.now() < deadline; await delay(20)) if (await proxy.isListening()) return proxy
    throw new Error(`${name} did not start: ${readFileSync(join(proxy.directory, 'error.log'), 'utf8')}`)
  }

  /** What it has forwarded since the last call. */
  forwarded(): readonly Frame[] {
    const lines = readFileSync(join(this.directory, 'access.log'), 'utf8').split('\n').slice(0, -1)
    const fresh = lines.slice(this.readCount).map((line) => JSON.parse(line) as Frame & { readonly upstream: string })
    this.readCount = lines.length
    const sent = fresh.filter(({ upstream }) => !nothing.has(upstream))
    return sent.map(({ method, path, body }) => ({ method, path, body: nothing.has(body) ? '' : body }))
  }

  private async isListening(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.child, 'exit')
    this.child.kill()
    await ended
    rmSync(this.directory, { recursive: true })
  }
}

/** How they write it. */
const nothing: ReadonlySet<string> = new Set(['', '-'])

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join('\n  ')

const ofNginx: Omit<Kind, 'configuration'> = {
  names: ['nginx'],
  package: 'nginx-light',
  options: ['-p', '.', '-c', 'proxy.conf', '-e', 'error.log'],
}

/** Everything in its own directory; bodies stay in memory, so that they are logged. */
function nginx(port: number, upstream: number, cache = { declared: '', used: '' }): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  ${temporary}
  ${cache.declared}
  client_body_buffer_size 64k;
  log_format frames escape=json '{"method":"$request_method","path":"$request_uri","body":"$request_body","upstream":"$upstream_status"}';
  access_log access.log frames;
  upstream gateway { server 127.0.0.1:${upstream}; keepalive 4; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      ${cache.used}
    }
  }
}`
}

/** `X-Cache` is `HIT` for what another response is used for. */
const nginxCache = {
  declared: 'proxy_cache_path cache keys_zone=responses:1m;',
  used: 'proxy_cache responses; add_header X-Cache $upstream_cache_status always;',
}

const kinds = {
  nginx: { ...ofNginx, configuration: (port, upstream) => nginx(port, upstream) },
  /** With a cache as its documentation sets it up. */
  nginxWithCache: { ...ofNginx, configuration: (port, upstream) => nginx(port, upstream, nginxCache) },
  haproxy: {
    names: ['haproxy'],
    package: 'haproxy',
    options: ['-f', 'proxy.conf'],
    configuration: (port, upstream) => `
global
  log stdout format raw local0
  tune.bufsize 65536
defaults
  mode http
  log global
  timeout client 10s
  timeout server 10s
  timeout connect 1s
frontend clients
  bind 127.0.0.1:${port}
  option http-buffer-request
  http-request set-var(txn.method) method
  http-request set-var(txn.path) pathq
  http-request set-var(txn.body) req.body
  log-format '{"method":"%[var(txn.method),json(utf8s)]","path":"%[var(txn.path),json(utf8s)]","body":"%[var(txn.body),json(utf8s)]","upstream":"%[srv_id]"}'
  default_backend gateway
backend gateway
  server gateway 127.0.0.1:${upstream}
`,
  },
} satisfies Record<string, Kind>
