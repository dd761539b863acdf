/** Replaces the default ports in programs and texts by free ones. */
import { freePort } from '../support/free-port.ts'

const defaultPorts = ['8080', '9090', '9101'] as const

export interface Ports {
  readonly gateway: number
  readonly admin: number
  readonly sandbox: number
  /** The text with these ports in the place of the default ones. */
  readonly move: (text: string) => string
}

export async function freePorts(): Promise<Ports> {
  const ports = [await freePort(20_000, 4_000), await freePort(24_000, 4_000), await freePort(28_000, 4_000)] as const
  const [gateway, admin, sandbox] = ports
  const move = (text: string): string =>
    text.replaceAll(/\b(?:8080|9090|9101)\b/g, (port) => String(ports[defaultPorts.indexOf(port as '8080')]))
  return { gateway, admin, sandbox, move }
}
