/** Raw sockets: a client that sends bytes, and a provider that responds with bytes. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { eventTimeoutMs } from './event-timeout.ts'
import { checkReason } from './reason.ts'

export interface RawResponse {
  readonly text: string
  /** 0 if nothing like a response came. */
  readonly status: number
  readonly head: string
  readonly body: string
  /** Whether the other side ended the connection. */
  readonly closed: boolean
}

/** Sends the bytes and reads until the other side closes, or is silent for so long after a whole response. */
export async function sendRaw(port: number, bytes: string | Uint8Array, idleTimeoutMs = 300): Promise<RawResponse> {
  const socket = connect(port, '127.0.0.1')
  const response = await new Promise<RawResponse>((resolve) => {
    const chunks: Buffer[] = []
    let timer = setTimeout(() => finish(false), eventTimeoutMs)
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parse(Buffer.concat(chunks).toString('utf8'), closed))
    }
    socket.on('data', (chunk) => {
      chunks.push(Buffer.from(chunk))
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), isWhole(Buffer.concat(chunks).toString('latin1')) ? idleTimeoutMs : eventTimeoutMs)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
    socket.write(bytes)
  })
  const headers = [...response.head.matchAll(/\r\n([^\s:]+): ([^\r]*)/g)].map(([, name = '', value]) => [name.toLowerCase(), value])
  checkReason(response.status, Object.fromEntries(headers), 'raw bytes')
  return response
}

function parse(text: string, closed: boolean): RawResponse {
  const at = text.indexOf('\r\n\r\n')
  const head = at < 0 ? text : text.slice(0, at)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
  return { text, status, head, body: at < 0 ? '' : text.slice(at + 4), closed }
}

export interface RawProvider {
  readonly url: string
  /** Every request's bytes, as text. */
  readonly requests: readonly string[]
  readonly close: () => Promise<void>
}

/** `response` is called with each request's text once its headers and its declared body are there. */
export async function startRawProvider(response: (socket: Socket, request: string) => void): Promise<RawProvider> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let pending = ''
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      if (!isWhole(pending)) return
      const request = pending
      pending = ''
      requests.push(request)
      response(socket, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/service/api/v2`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function isWhole(text: string): boolean {
  const at = text.indexOf('\r\n\r\n')
  if (at < 0) return false
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, at + 2))?.[1] ?? 0)
  return text.length >= at + 4 + length
}

/** A response of HTTP/1.1 with this body. */
export function rawResponse(body: string, status = '200 OK', headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
