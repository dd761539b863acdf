/** Through which proxy a provider is called: the one that the file names, or that of `HTTPS_PROXY` and `NO_PROXY`. */
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../domain/network-address.ts'
import type { Faults } from './faults.ts'
import { isProxyUrl } from './value-types.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Egress {
  readonly egress?: { readonly proxy?: string | undefined } | undefined
  readonly providers?: Readonly<Record<string, { readonly proxy?: string | undefined } | undefined>> | undefined
}

/** Empty: none. Calls that are not encrypted, or stay on this machine, have none: a proxy would see the key, or another machine. */
export function proxyOf(url: string, setting: string, environment: Environment): string {
  const { protocol, hostname } = new URL(url)
  if (setting === 'direct' || protocol !== 'https:' || isLoopback(hostname)) return ''
  if (setting !== 'environment') return setting
  return isExcluded(url, valueIn(environment, 'NO_PROXY')) ? '' : withScheme(valueIn(environment, 'HTTPS_PROXY'))
}

/** Adds a fault where the file takes the proxy from the environment, and that has none that can be used. */
export function checkProxyVariable({ egress, providers = {} }: Egress, environment: Environment, faults: Faults): void {
  const value = valueIn(environment, 'HTTPS_PROXY')
  if (value === '' || isProxyUrl(withScheme(value))) return
  const message = 'HTTPS_PROXY of the environment must be an http or https URL without a path, like http://proxy:3128'
  if (egress?.proxy === 'environment') faults.add(['egress', 'proxy'], message)
  for (const [name, provider] of Object.entries(providers))
    if (provider?.proxy === 'environment') faults.add(['providers', name, 'proxy'], message)
}

/** One line if the environment names a proxy, and the file does not say whether it counts. */
export function proxyWarnings({ egress }: Egress, environment: Environment): readonly string[] {
  if (egress?.proxy !== undefined || valueIn(environment, 'HTTPS_PROXY') === '') return []
  const name = environment.https_proxy ? 'https_proxy' : 'HTTPS_PROXY'
  return [
    `${name} of the environment is ignored: providers are called without a proxy. Set egress.proxy: environment to use it, or egress.proxy: direct if that is meant`,
  ]
}

/** In small letters first, as other programs have it. */
function valueIn(environment: Environment, name: string): string {
  return (environment[name.toLowerCase()] || environment[name] || '').trim()
}

function withScheme(proxy: string): string {
  return proxy === '' || proxy.includes('://') ? proxy : `http://${proxy}`
}

/** `list`: hosts, domains (with or without a dot or `*.` in front), addresses and networks, each with a port or without; or `*`. */
function isExcluded(url: string, list: string): boolean {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      if (entry.includes('/')) return isInNetwork(host, entry)
      const [, name = '', ownPort] = /^(?:\*?\.)?\[?(.+?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? []
      if (ownPort !== undefined && ownPort !== (port || '443')) return false
      return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`))
    })
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix] = network.split('/')
  const family = isIP(address)
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix ?? '') || Number(prefix) > (family === 4 ? 32 : 128))
    return false
  const list = new BlockList()
  list.addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
