/** node:net: the client's address, as the socket or the trusted proxies have it. */
import { Buffer } from 'node:buffer'
import { isIP } from 'node:net'
import type { Request } from 'express'

/** Of an address with a port or a zone. */
const maxLength = 80
/** Some proxies write the port too. */
const withPort = /^(\d+(?:\.\d+){3}):\d+$|^\[(.+)\](?::\d+)?$/

/** `server.trustProxy` hops back in `X-Forwarded-For`, without a port. What is no address there is none: empty. */
export function clientAddress(request: Pick<Request, 'socket' | 'ip'>, trustProxy: number): string {
  if (trustProxy === 0) return request.socket.remoteAddress ?? ''
  const { ip = '' } = request // express parses the header at each read
  const address = ip.length <= maxLength ? ip.replace(withPort, '$1$2') : ''
  // A real copy: a part of the header would keep all of it in memory.
  return isIP(address) === 0 ? '' : Buffer.from(address, 'latin1').toString('latin1')
}
