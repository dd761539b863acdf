/** node:net: whether a connection is made in time; for TLS, after the handshake. */
import type { Socket } from 'node:net'

const connectTimeoutMs = 2_000

/** Calls one of the two callbacks, or none if the socket fails. */
export function watchConnecting(socket: Socket, onConnected: () => void, onTimeout: () => void): void {
  const timer = setTimeout(onTimeout, connectTimeoutMs)
  const stop = (): void => clearTimeout(timer)
  socket.once('close', stop)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
    stop()
    onConnected()
  })
}
