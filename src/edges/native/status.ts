/** The meaning of a provider's status on the native lane: whether it is passed on, and how it is counted. */
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Headers } from '../../wire/http.ts'
import { readRetryAfter } from '../../wire/http.ts'

/** Why the client gets a 502 instead of the response: a redirect, a rejection of the gateway's own key, or no final HTTP response. */
export function refusedHead(status: number, headers: Headers, provider: string): Fault | undefined {
  const coding = headers['transfer-encoding']
  if (status < 200 || status > 599 || (coding !== undefined && coding.toLowerCase() !== 'chunked'))
    return standardFault('unreadable', { provider })
  if (status < 400 && status > 299) return standardFault('failed', { provider, noEffect: true })
  return status === 401 ? standardFault('unauthorized', { provider, noEffect: true }) : undefined
}

/** The fault as which a forwarded response is counted; undefined if it is no error. */
export function faultOfStatus(status: number, headers: Headers, provider: string): Fault | undefined {
  if (status < 400) return undefined
  if (status === 429) {
    const retryAfter = readRetryAfter(headers['retry-after'])
    return standardFault('limited', { provider, ...(retryAfter !== undefined && { retryAfter }) })
  }
  return status >= 500 ? standardFault('failed', { provider }) : new Fault('invalid', 'Refused.', { provider, reason: 'refused' })
}
