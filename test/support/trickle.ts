import type { ServerResponse } from 'node:http'

/** A body that never ends: byte by byte, until the connection is closed. */
export function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write('.'), 20)
  response.once('close', () => clearInterval(timer))
}
