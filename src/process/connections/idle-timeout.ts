/** Ends connections on which nothing is asked: an empty line now and then begins no request, and renews every time-out of a socket. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The answer that a socket waits for; Node's own name for it. */
interface AwaitingResponse extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** A connection that in so many milliseconds was told nothing, and waits for no answer, is closed. */
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
