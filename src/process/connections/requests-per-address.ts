/** Bounds the requests in progress of a client address, where connections say nothing: they are those of proxies. */
import { clientNetworkOf } from '../../core/access/client-address.ts'
import { standardFault } from '../../domain/fault.ts'
import type { Http } from '../../wire/http.ts'
import type { AddressBound } from './connection-bounds.ts'

/** Seconds. */
const retryAfter = 1

/** A request whose head is whole counts from then on, also while its body is awaited. One too many is 429. */
export function limitRequestsPerAddress(handle: Http, { max, from }: AddressBound): Http {
  const counts = new Map<string, number>()
  let inProgress = 0
  return async (request) => {
    const address = clientNetworkOf(request.address ?? '')
    const count = counts.get(address) ?? 0
    if (count >= max && inProgress >= from) return handle({ ...request, protocolError: standardFault('limited', { retryAfter }) })
    counts.set(address, count + 1)
    inProgress++
    try {
      return await handle(request)
    } finally {
      inProgress--
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    }
  }
}
