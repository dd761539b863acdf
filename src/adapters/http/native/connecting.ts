/** node:net, node:tls: when a connection stands; for TLS, when the other side is known. */
import type { Socket } from 'node:net'

const connectTimeoutMs = 2_000

/** Calls one of the two, or neither where the socket fails before. */
export function watchConnecting(socket: Socket, onConnected: () => void, onTimeout: () => void): void {
  const timer = setTimeout(onTimeout, connectTimeoutMs)
  const stop = (): void => clearTimeout(timer)
  socket.once('close', stop)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
    stop()
    onConnected()
  })
}
