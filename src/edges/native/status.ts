/** What the head of a provider's answer means on the native lane: which is passed on, and how it counts. */
import { Fault } from '../../domain/faults/fault.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import type { Headers } from '../../wire/http.ts'
import { readRetryAfter } from '../../wire/retry-after.ts'

/** Why nothing of the answer may go down: a redirect is not followed, and what refuses the gateway's own key is not about the client's. */
export function refusedHead(status: number, headers: Headers, provider: string): Fault | undefined {
  const coding = headers['transfer-encoding']
  if (status < 200 || status > 599 || (coding !== undefined && coding.toLowerCase() !== 'chunked'))
    return standardFault('unreadable', { provider })
  if (status < 400 && status > 299) return standardFault('failed', { provider, noEffect: true })
  return status === 401 ? standardFault('unauthorized', { provider, noEffect: true }) : undefined
}

/** What an answer counts as that is passed on; undefined where it is no error. */
export function faultOfStatus(status: number, headers: Headers, provider: string): Fault | undefined {
  if (status < 400) return undefined
  if (status === 429) {
    const retryAfter = readRetryAfter(headers['retry-after'])
    return standardFault('limited', { provider, ...(retryAfter !== undefined && { retryAfter }) })
  }
  return status >= 500 ? standardFault('failed', { provider }) : new Fault('invalid', 'Refused.', { provider, reason: 'refused' })
}
