/** Where a webhook may lead (docs/contract.md §18.3): a name, an address and a port that a client chose. */
import { isAddress, isPublicAddress, isWithin, networkList, parseNetwork } from './network-address.ts'

const httpHost = /^http:\/\/[^/?#@\\\s]+$/i

/** Of `webhooks.allow`. */
export function isAllowedTarget(text: string): boolean {
  return parseNetwork(text) !== undefined || httpHostOf(text) !== undefined
}

/** The host and the port of `http://host[:port]`; without a port it is every port. */
function httpHostOf(text: string): { readonly hostname: string; readonly port: string | undefined } | undefined {
  const url = httpHost.test(text) ? URL.parse(text) : null
  if (!url) return undefined
  const namesPort = /:\d+$/.test(text.replace(/^http:/i, ''))
  return { hostname: url.hostname, port: namesPort ? url.port || '80' : undefined }
}

/** An absolute URL of a webhook: `http:` or `https:`, without credentials and without a fragment. Undefined if the text is none. */
export function parseWebhookUrl(text: string): URL | undefined {
  const url = text.length <= maxLength && !/[\s\p{Cc}]/u.test(text) ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  return url.username === '' && url.password === '' && !text.includes('#') ? url : undefined
}

const maxLength = 2_048

/** The address in the URL of a host that is one; undefined for a name. */
export function addressIn({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isAddress(address) ? address : undefined
}

/** What `webhooks.allow` opens. */
export interface AllowedTargets {
  /** Whether the host of an `http:` URL is open, whatever its address. */
  readonly hasHttpHost: (url: URL) => boolean
  /** Whether an `https:` URL may lead to the address. */
  readonly hasAddress: (address: string) => boolean
}

export function allowedTargets(texts: readonly string[]): AllowedTargets {
  const networks = networkList(texts.flatMap((text) => parseNetwork(text) ?? []))
  const hosts = texts.flatMap((text) => httpHostOf(text) ?? [])
  return {
    hasHttpHost: (url) =>
      hosts.some(({ hostname, port }) => hostname === url.hostname && (port ?? (url.port || '80')) === (url.port || '80')),
    hasAddress: (address) => isPublicAddress(address) || isWithin(networks, address),
  }
}

/** Whether the URL may be called as far as it says: an address in it may be, or it has a name, which is judged by its addresses. */
export function mayLeadTo(url: URL, allowed: AllowedTargets): boolean {
  if (url.protocol === 'http:') return allowed.hasHttpHost(url)
  const address = addressIn(url)
  return address === undefined || allowed.hasAddress(address)
}
