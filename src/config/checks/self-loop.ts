/** Detects a URL that leads back to this process: the gateway would call itself without end. */
import { hostname as machineName, networkInterfaces } from 'node:os'
import { isLoopback } from '../../domain/network-address.ts'

export interface Listener {
  readonly host: string
  readonly port: number
}

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/** Detects what the configuration shows. Other names of this machine are known only to its resolver. */
export function isSelfLoop(url: string, { host, port }: Listener): boolean {
  const { protocol, hostname, port: explicitPort } = new URL(url)
  const defaultPort = protocol === 'https:' ? 443 : 80
  if (Number(explicitPort || defaultPort) !== port) return false
  return addressesOf(hostname).some((address) => isListenedOn(address, host))
}

/** Addresses to which a connection to the host may lead. `URL` has already normalized every notation of an address. */
function addressesOf(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/^\[(.*)\]$|\.$/g, '$1')
  const [, high, low] = mapped.exec(name) ?? []
  if (high !== undefined && low !== undefined) return [dotted(Number.parseInt(high, 16), Number.parseInt(low, 16))]
  if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
  if (name === '0.0.0.0') return ['127.0.0.1']
  return name === '::' ? ['::1'] : [name]
}

function isListenedOn(address: string, host: string): boolean {
  if (host === '0.0.0.0') return isOfThisMachine(address) && !address.includes(':')
  if (host === '::') return isOfThisMachine(address)
  return addressesOf(host).includes(address)
}

function isOfThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address))
  return isLoopback(address) || own.includes(address) || address === machineName().toLowerCase()
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
