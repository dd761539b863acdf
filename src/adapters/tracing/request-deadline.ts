/** node:diagnostics_channel: a deadline for requests that a library sends. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ClientRequest } from 'node:http'
import { urlToHttpOptions } from 'node:url'

const channel = 'http.client.request.created'

/**
 * Emits `timeout` on each request to `url` after `remainingMs`, which has no effect once the response is complete. The timeout of
 * `node:http` is for idle connections only: each byte of a response restarts it. Returns a function that removes the deadline from
 * later requests.
 */
export function addRequestDeadline(url: string, remainingMs: () => number): () => void {
  const { hostname, path } = urlToHttpOptions(new URL(url))
  const onCreated = (message: unknown): void => {
    const request = requestOf(message)
    if (!request || request.host !== hostname || request.path !== path) return
    // Not cleared on `close`: after a response with 101 that is the only event.
    setTimeout(() => request.emit('timeout'), remainingMs()).unref()
  }
  subscribe(channel, onCreated)
  return () => void unsubscribe(channel, onCreated)
}

function requestOf(message: unknown): ClientRequest | undefined {
  const isRequest = typeof message === 'object' && message !== null && 'request' in message
  return isRequest && message.request instanceof ClientRequest ? message.request : undefined
}
