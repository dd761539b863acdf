/** node:http: a timeout for clients that do not read their response. */
import type { ServerResponse } from 'node:http'

/**
 * Resets the connection if the client has not read the response after `timeoutMs`. Single bytes do not extend this timeout,
 * but they extend every timeout of a socket. Bytes in the system's buffer count as read.
 */
export function setWriteTimeout(response: ServerResponse, timeoutMs: number): void {
  if (response.writableLength === 0) return
  const { socket } = response.req
  const timer = setTimeout(() => socket.resetAndDestroy(), timeoutMs).unref()
  response.once('close', () => clearTimeout(timer))
}
