/** A proxy that opens tunnels by CONNECT to ports of this machine, whatever the host's name is, and keeps all bytes that pass. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

interface Connected {
  readonly authority: string
  readonly headers: IncomingHttpHeaders
}

export class ConnectProxy implements AsyncDisposable {
  url = ''
  readonly connects: Connected[] = []
  /** Requests that were no CONNECT. */
  readonly others: string[] = []
  /** All bytes of the tunnels, in both directions. */
  readonly seen: Buffer[] = []
  /** The status of its answers, with the status line's words. */
  status = '200 Connection established'
  /** It accepts, and answers nothing. */
  isSilent = false
  private readonly sockets = new Set<Duplex>()
  private readonly server = createServer(({ method, url }) => void this.others.push(`${method} ${url}`))

  private constructor() {
    this.server.on('connection', (socket: Socket) => void this.keep(socket))
    this.server.on('connect', (request, socket, head) => this.connect(request, socket, head))
  }

  static async start(): Promise<ConnectProxy> {
    const proxy = new ConnectProxy()
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
    proxy.url = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}`
    return proxy
  }

  /** With user and password. */
  urlFor(user: string, password: string): string {
    return this.url.replace('://', `://${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)
  }

  /** Breaks all tunnels. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private connect({ url = '', headers }: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.keep(socket)
    this.connects.push({ authority: url, headers })
    if (this.isSilent) return
    socket.write(`HTTP/1.1 ${this.status}\r\n\r\n`)
    if (!this.status.startsWith('200')) return void socket.end()
    const target = connect(Number(url.split(':').at(-1)), '127.0.0.1')
    this.keep(target)
    for (const end of [socket, target]) end.on('data', (bytes: Buffer) => void this.seen.push(bytes))
    socket.on('close', () => target.destroy())
    target.on('close', () => socket.destroy())
    target.write(head)
    socket.pipe(target).pipe(socket)
  }

  private keep(socket: Duplex): void {
    this.sockets.add(socket.on('error', () => {}))
    socket.once('close', () => this.sockets.delete(socket))
  }
}
