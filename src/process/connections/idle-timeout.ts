/** Closes connections without requests. Node's own timeouts do not: an empty line begins no request, but renews them. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The socket's pending response, under Node's own name. */
interface AwaitingResponse extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** Closes a connection that had no response in this many milliseconds and has none pending. */
export function setIdleTimeout(server: Server, timeoutMs: number): void {
  server.on('connection', (socket: AwaitingResponse) => {
    let lastBytesWritten = socket.bytesWritten
    const timer = setInterval(() => {
      if (socket.bytesWritten === lastBytesWritten && !socket._httpMessage) return void socket.destroy()
      lastBytesWritten = socket.bytesWritten
    }, timeoutMs)
    timer.unref()
    socket.once('close', () => clearInterval(timer))
  })
}
