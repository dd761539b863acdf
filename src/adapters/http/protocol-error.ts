/** node:http: rejects requests that RFC 9112 forbids and Node accepts. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '../../domain/fault.ts'

const maxPathLength = 8_192
const hostPattern = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/
const continuation = /^100-continue$/i
const none: readonly string[] = []

/** Names of repeated headers, in lower case. */
export function repeatedHeaders({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return none
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  return names.filter((name, at) => names.indexOf(name) !== at)
}

/** The fault of a request that is not valid HTTP/1.1 (RFC 9112 §3.2, §6.1). Undefined if it is valid. */
export function protocolErrorOf(request: IncomingMessage, repeated: readonly string[]): Fault | undefined {
  const { url = '', headers, httpVersionMinor } = request
  if (url.length > maxPathLength)
    return new Fault('pathTooLong', `The path and query must have at most ${maxPathLength} characters.`)
  if (!url.startsWith('/')) return new Fault('invalid', 'The request target must be a path.', { reason: 'path' })
  const mayLackHost = httpVersionMinor === 0 && headers.host === undefined
  if (repeated.includes('host') || !(mayLackHost || hostPattern.test(headers.host ?? '')))
    return new Fault('invalid', 'Invalid Host: it must be sent once, as a host and a port.')
  if (httpVersionMinor > 0 && headers.expect !== undefined && !continuation.test(headers.expect))
    return new Fault('expectationFailed', 'Only Expect: 100-continue is understood.')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersionMinor === 0) return new Fault('invalid', 'HTTP/1.0 has no Transfer-Encoding.')
  if (coding.toLowerCase() !== 'chunked') return new Fault('invalid', 'The only Transfer-Encoding is chunked.')
  return undefined
}
