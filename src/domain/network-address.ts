/** node:net: lists of networks, and what is an address. */
import { BlockList, isIP } from 'node:net'

/** Special-purpose IPv4 networks (IANA, RFC 6890): this network, private, shared (CGNAT), loopback, link-local, documentation, tests, multicast. */
const special = networks('ipv4', [
  ...(['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'] as const),
  ...(['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'] as const),
  ...(['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'] as const),
])
/** The only IPv6 network of public addresses of single machines, and what is not public in it: protocols and Teredo, documentation, 6to4. */
const unicast = networks('ipv6', ['2000::/3'])
const specialUnicast = networks('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** Whether the text is an IP address, without port and zone, that is routed on the internet. An IPv4 address inside an IPv6 one is not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !special.check(address, 'ipv4')
  return version === 6 && unicast.check(address, 'ipv6') && !specialUnicast.check(address, 'ipv6')
}

function networks(family: 'ipv4' | 'ipv6', ranges: readonly `${string}/${number}`[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** Whether a host (as in `URL.hostname`) or an address is this machine's loopback interface. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}
