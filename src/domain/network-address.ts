/** node:net: lists of networks, and what is an address. */
import { BlockList, isIP } from 'node:net'

/** Special-purpose IPv4 networks (IANA, RFC 6890): this network, private, shared (CGNAT), loopback, link-local, documentation, tests, multicast. */
const special = networkList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Public by its number, but each machine of Azure has its host there.
  '168.63.129.16/32',
])
/** The only IPv6 network of public addresses of single machines, and what is not public in it: protocols and Teredo, documentation, 6to4. */
const unicast = networkList(['2000::/3'])
const specialUnicast = networkList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** Whether the text is an IP address, without port and zone, that is routed on the internet. An IPv4 address inside an IPv6 one is not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !isWithin(special, address)
  return version === 6 && isWithin(unicast, address) && !isWithin(specialUnicast, address)
}

/** Networks, those of each family by themselves: a `BlockList` finds IPv4 addresses in networks of IPv6 too, like `::/0`. */
export interface NetworkList {
  readonly ipv4: BlockList
  readonly ipv6: BlockList
}

/** As `<address>/<length>`. */
export function networkList(ranges: readonly string[]): NetworkList {
  const list = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    const family = isIP(network) === 4 ? 'ipv4' : 'ipv6'
    list[family].addSubnet(network, Number(prefix), family)
  }
  return list
}

/** Whether one of the networks has the address, which is without port and zone. */
export function isWithin(list: NetworkList, address: string): boolean {
  const version = isIP(address)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return list[family].check(address, family)
}

/** Whether the text is an IP address, without port. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** Whether a host (as in `URL.hostname`) or an address is this machine's loopback interface. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}

// Networks, as a person writes them.

/** The network of a text like `203.0.113.0/24` or `2001:db8::1`; undefined if it is none, or has bits of a host. */
export function parseNetwork(text: string): string | undefined {
  const [address = '', length, ...rest] = text.trim().toLowerCase().split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined
  const bits = version === 4 ? 32 : 128
  if (length !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined
  const prefix = length === undefined ? bits : Number(length)
  if (prefix > bits) return undefined
  const value = version === 4 ? ipv4Value(address) : ipv6Value(address)
  if ((value & ((1n << BigInt(bits - prefix)) - 1n)) !== 0n) return undefined
  const isMapped = version === 6 && value >> 32n === 0xffffn && prefix >= 96
  if (isMapped) return `${dotted(value & 0xffff_ffffn)}/${prefix - 96}`
  return `${address}/${prefix}`
}

function ipv4Value(address: string): bigint {
  return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)
}

function ipv6Value(address: string): bigint {
  const lastColon = address.lastIndexOf(':')
  const end = address.slice(lastColon + 1)
  const plain = end.includes('.') ? `${address.slice(0, lastColon + 1)}${hexGroups(ipv4Value(end))}` : address
  const [first = [], last = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last]
  return groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n)
}

function hexGroups(value: bigint): string {
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
}
