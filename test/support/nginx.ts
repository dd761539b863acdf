/** nginx as a proxy in front of a server on loopback, and its own account of every request. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { programOf } from './program.ts'

/** A request as somebody has framed it. */
export interface Frame {
  readonly method: string
  readonly path: string
  readonly body: string
}

export class Nginx implements AsyncDisposable {
  readonly port: number
  private readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-nginx-'))
  private readonly child: ChildProcess
  private told = 0

  private constructor(program: string, port: number, upstream: number) {
    this.port = port
    writeFileSync(join(this.directory, 'nginx.conf'), configuration(port, upstream))
    this.child = spawn(program, ['-p', this.directory, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: 'ignore' })
  }

  /** Answering. */
  static async start(upstream: number): Promise<Nginx> {
    // Debian's package would start it as a service, on port 80.
    process.env.RUNLEVEL = '1'
    const nginx = new Nginx(await programOf({ names: ['nginx'], package: 'nginx-light' }), await freePort(), upstream)
    for (const deadline = Date.now() + 5_000; Date.now() < deadline; await delay(20)) if (await nginx.isListening()) return nginx
    throw new Error(`nginx did not start: ${readFileSync(join(nginx.directory, 'error.log'), 'utf8')}`)
  }

  /** What it has sent on since it was asked last. */
  forwarded(): readonly Frame[] {
    const lines = readFileSync(join(this.directory, 'access.log'), 'utf8').split('\n').slice(0, -1)
    const fresh = lines.slice(this.told).map((line) => JSON.parse(line) as Frame & { readonly upstream: string })
    this.told = lines.length
    return fresh.filter(({ upstream }) => upstream !== '').map(({ method, path, body }) => ({ method, path, body }))
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

/** Everything in its own directory; bodies stay in memory, so that the log has them. */
function configuration(port: number, upstream: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join('\n  ')
  return `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  ${temporary}
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
    }
  }
}`
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
