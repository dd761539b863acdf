/** node:http: how long an answer may stay here after it was written. */
import type { ServerResponse } from 'node:http'

/**
 * Resets the connection where the client has not taken the answer after so many milliseconds, whatever it reads or sends
 * meanwhile: a byte now and then renews every time-out of a socket. What the system has taken counts as taken.
 */
export function setWriteTimeout(response: ServerResponse, timeoutMs: number): void {
  if (response.writableLength === 0) return
  const { socket } = response.req
  const timer = setTimeout(() => socket.resetAndDestroy(), timeoutMs).unref()
  response.once('close', () => clearTimeout(timer))
}
