/**
 * http-proxy-middleware: the native lane's proxy. It pipes the request and closes each side with the other. By default it forwards
 * all headers, has no timeouts, and puts the host into errors; so it gets a request of our own, and copies no header of the response.
 */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, type ServerResponse } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware'
import { serverStreams } from '../adapters/http/server.ts'
import type { NativeRequest, SendNative } from '../wire/native.ts'
import { Exchange, Upload } from './exchange.ts'

/**
 * No keep-alive: on a kept connection, surplus bytes of one response would be read as the next one, and a connection that the provider
 * closes at that moment would fail a request that is never retried.
 */
const agentOptions = { keepAlive: false }

/** `url`: the provider's base URL. */
export function nativeUpstream(url: string, lookup: LookupFunction): SendNative {
  const exchanges = new WeakMap<object, Exchange>()
  const proxy = createProxyMiddleware({
    target: url,
    agent: new (url.startsWith('https:') ? TlsAgent : PlainAgent)({ ...agentOptions, lookup }),
    changeOrigin: true, // `Host` is the provider's
    selfHandleResponse: true, // copies no header and no status of the response
    ejectPlugins: true, // sends and prints no errors of its own
    plugins: [eventsOf(exchanges)],
  })
  return (native: NativeRequest) => {
    const upload = new Upload(native)
    const exchange = new Exchange(native, upload, serverStreams(native.streams))
    exchanges.set(upload, exchange)
    if (exchange.begin()) proxy(upload as unknown as IncomingMessage, exchange.response, exchange.fail).catch(exchange.fail)
    return exchange.ended
  }
}

/** The proxy's events. An exception in a listener would end the process; the methods of `Exchange` do not throw. */
function eventsOf(exchanges: WeakMap<object, Exchange>): Plugin {
  return (server) => {
    server.on('proxyReq', (clientRequest: ClientRequest, upload) => exchanges.get(upload)?.onRequest(clientRequest))
    server.on('proxyRes', (answer: IncomingMessage, upload) => exchanges.get(upload)?.onResponse(answer))
    const fail = (reason: Error, upload?: object, _?: ServerResponse | unknown): void =>
      upload && exchanges.get(upload)?.onError(reason)
    server.on('error', fail)
    server.on('econnreset', fail)
  }
}
