/** Ends connections on which nothing is asked: an empty line now and then begins no request, and renews every time-out of a socket. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The answer that a socket waits for; Node's own name for it. */
interface Awaiting extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** A connection that in so many milliseconds was told nothing, and waits for no answer, is closed. */
export function boundIdleness(server: Server, patience: number): void {
  server.on('connection', (socket: Awaiting) => {
    let told = socket.bytesWritten
    const timer = setInterval(() => {
      if (socket.bytesWritten === told && !socket._httpMessage) return void socket.destroy()
      told = socket.bytesWritten
    }, patience)
    timer.unref()
    socket.once('close', () => clearInterval(timer))
  })
}
