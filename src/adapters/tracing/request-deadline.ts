/** node:async_hooks and node:diagnostics_channel: a deadline for the requests of a library that sets none. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { ClientRequest, type IncomingMessage } from 'node:http'
import { maxTimerMs } from '../../domain/async.ts'

const deadlines = new AsyncLocalStorage<number>()

/**
 * Calls `send`. The requests of `node:http` that it makes, at once or later, get the event `timeout` after `timeoutMs`; it has no
 * effect on a response that is complete. The timeout of `node:http` itself is for idle connections: each byte restarts it.
 */
export function withRequestDeadline(timeoutMs: number, send: () => void): void {
  deadlines.run(performance.now() + timeoutMs, send)
}

subscribe('http.client.request.created', (message) => {
  const deadline = deadlines.getStore()
  if (deadline === undefined || !hasRequest(message)) return
  const { request } = message
  const remainingMs = Math.max(0, deadline - performance.now())
  const timer = setTimeout(() => request.emit('timeout'), Math.min(remainingMs, maxTimerMs)).unref()
  const clear = (): void => clearTimeout(timer)
  // Not on `close`: after a response with 101 that is the only event, and a library that waits for others waits for ever.
  request.once('error', clear).once('response', (response: IncomingMessage) => response.once('close', clear))
})

function hasRequest(message: unknown): message is { readonly request: ClientRequest } {
  return typeof message === 'object' && message !== null && 'request' in message && message.request instanceof ClientRequest
}
