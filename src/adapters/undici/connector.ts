/** undici: connects to providers, and marks errors of connecting. */
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'

const connectTimeoutMs = 2_000
/** Over HTTP/2 undici resends a refused POST. */
export const withoutHttp2 = { allowH2: false }

const connectErrors = new WeakSet<Error>()

/** Whether no byte of a request was sent, because the connection failed. */
export function isConnectError(error: Error): boolean {
  return connectErrors.has(error)
}

/** Marks errors of connecting: then no byte of a request was sent, whatever the error's code. */
export function markingConnector(lookup: LookupFunction): buildConnector.connector {
  const connector = buildConnector({ timeout: connectTimeoutMs, lookup, ...withoutHttp2 })
  return (options, callback) =>
    connector(options, (...result) => {
      const [error] = result
      if (error) connectErrors.add(error)
      callback(...result)
    })
}
