/** Replaces the default ports in programs and texts by free ones. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const defaultPorts = ['8080', '9090', '9101'] as const

export interface Ports {
  readonly gateway: number
  readonly admin: number
  readonly sandbox: number
  /** The text with these ports in the place of the default ones. */
  readonly move: (text: string) => string
}

export async function freePorts(): Promise<Ports> {
  const servers = defaultPorts.map(() => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  const [gateway = 0, admin = 0, sandbox = 0] = ports
  const move = (text: string): string =>
    text.replaceAll(/\b(?:8080|9090|9101)\b/g, (port) => String(ports[defaultPorts.indexOf(port as '8080')]))
  return { gateway, admin, sandbox, move }
}
