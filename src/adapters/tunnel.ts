/** undici: tunnels through a proxy by CONNECT (RFC 9110, section 9.3.6), for both lanes. */
// Not its ProxyAgent: its errors do not say whether the proxy failed or the provider, and Node's agents cannot use it.

import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import { ProxyFailure, unreachableCauseOf } from '../domain/failure-cause.ts'

/** Opens a connection over which TLS with the host follows. Rejects with a `ProxyFailure`. */
export type Tunnel = (host: string, port: number) => Promise<Socket>

/** To connect to the proxy, and again for its answer. */
const timeoutMs = 2_000

/** `proxy`: its URL, with user and password if it wants them. It looks up the host's name itself. */
export function tunnelThrough(proxy: string, lookup: LookupFunction): Tunnel {
  const { origin, username, password } = new URL(proxy)
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const headers = username === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }
  const connect = buildConnector({ timeout: timeoutMs, lookup, allowH2: false })
  return async (host, port) => {
    const client = new Client(origin, { connect, allowH2: false })
    try {
      const { statusCode, socket } = await client.connect({
        path: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
        headers,
        signal: AbortSignal.timeout(2 * timeoutMs),
      })
      if (statusCode >= 200 && statusCode < 300) return socket as Socket
      socket.on('error', () => {}).destroy()
      throw new ProxyFailure('proxy_refused', `the proxy answered CONNECT with ${statusCode}`)
    } catch (reason) {
      if (reason instanceof ProxyFailure) throw reason
      throw new ProxyFailure('proxy_unreachable', `the proxy opened no tunnel: ${unreachableCauseOf(reason)}`, { cause: reason })
    } finally {
      await client.destroy()
    }
  }
}
