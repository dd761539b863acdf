/** Whom an address stands for, so that nobody gets a new limit with every address that he has (RFC 6177). */

const mappedIpv4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i

/** One subscriber, one bucket: an IPv4 address, mapped or not, or the /64 of an IPv6 one. */
export function subjectOf(address: string): string {
  const mapped = mappedIpv4.exec(address)
  if (mapped) return mapped[1] as string
  if (!address.includes(':')) return address
  return networkOf(address.split('%')[0] as string)
}

/** The first four groups, with `::` written out. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === '' ? [] : tail.split(':')
  const zeros = address.includes('::') ? Array.from({ length: 8 - first.length - last.length }, () => '0') : []
  const groups = [...first, ...zeros, ...last].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
