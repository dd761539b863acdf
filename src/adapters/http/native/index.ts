/**
 * http-proxy-middleware: carries the native lane, since it pipes both ways and ends each side with the other. Left to itself it
 * forwards every header, waits for ever, and answers errors with the host: so it sees neither the client's request nor a header.
 */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, type ServerResponse } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware'
import type { NativeRequest, SendNative } from '../../../wire/native.ts'
import { takeOver } from '../streams.ts'
import { Exchange } from './exchange.ts'
import { Upload } from './upload.ts'

/**
 * A connection for each request: what a provider sends beyond its answer reaches nobody, and none is closed just when it is used,
 * which no retry would mend.
 */
const agentOptions = { keepAlive: false }

/** `url`: the provider's base URL. */
export function nativeUpstream(url: string): SendNative {
  const exchanges = new WeakMap<object, Exchange>()
  const proxy = createProxyMiddleware({
    target: url,
    agent: url.startsWith('https:') ? new TlsAgent(agentOptions) : new PlainAgent(agentOptions),
    changeOrigin: true, // `Host` is the provider's
    selfHandleResponse: true, // no header and no status of the answer is copied
    ejectPlugins: true, // no error is answered or printed
    plugins: [eventsOf(exchanges)],
  })
  return (native: NativeRequest) => {
    const upload = new Upload(native)
    const exchange = new Exchange(native, upload, takeOver(native.streams))
    exchanges.set(upload, exchange)
    if (exchange.begin()) proxy(upload as unknown as IncomingMessage, exchange.response, exchange.fail).catch(exchange.fail)
    return exchange.ended
  }
}

/** What the proxy tells. An exception in here would end the process, so each of these catches its own. */
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
