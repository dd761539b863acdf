/** Maps an address to the network that is limited as one client (RFC 6177: a subscriber has at least an IPv6 /64). */
import { forwardedAddress } from '../../domain/call-options.ts'
import { withValue } from '../../domain/context-values.ts'
import { noPublicAddress } from '../../domain/fault.ts'
import { isPublicAddress } from '../../domain/network-address.ts'
import type { Op, Request } from '../../domain/service.ts'
import { aroundAll, type Layer } from '../layer.ts'

/** Some proxies write the port too: `192.0.2.7:5000`, `[2001:db8::1]:5000`. */
const withPort = /^(\d+(?:\.\d+){3}):\d+$|^\[(.+)\](?::\d+)?$/

/** The subject of limits: the IPv4 address, or the /64 of an IPv6 address. */
export function clientNetworkOf(text: string): string {
  const address = clientAddressOf(text)
  if (!address.includes(':')) return address
  return groupsOf(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

/** The address alone, without port and zone. An IPv4 address that is mapped into IPv6 is the IPv4 address. */
export function clientAddressOf(text: string): string {
  const address = text.replace(withPort, '$1$2')
  if (!address.includes(':')) return address
  const [withoutZone = ''] = address.split('%')
  const groups = groupsOf(withoutZone)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMapped ? dotted(groups.slice(6)) : withoutZone
}

/** All eight groups of an IPv6 address: expands `::` and a dotted IPv4 end. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = address.split('::')
  const first = readGroups(head)
  if (tail === undefined) return first
  const last = readGroups(tail)
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

function readGroups(text: string): readonly number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function dotted([high = 0, low = 0]: readonly number[]): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

export type NeedsAddress = (op: Op, request: Request<Op>) => boolean

/**
 * Adds the client's address to calls that need it, for a provider that serves only the users whose address it gets. Throws
 * `invalid`, before anything is sent or spent, if the address is not public: the gateway's own calls have none.
 */
export function forwardAddress(needsAddress: NeedsAddress): Layer {
  return aroundAll(function forwardAddress(op, request, context, next) {
    if (!needsAddress(op, request)) return next.call(op, request, context)
    const address = clientAddressOf(context.caller.address)
    if (!isPublicAddress(address)) return Promise.reject(noPublicAddress())
    const response = next.call(op, request, withValue(context, forwardedAddress, address))
    return response.then((resolved) => ({ ...resolved, caching: { ...resolved.caching, isForbidden: true } }))
  })
}
