/** How long a connection stays open between two requests (docs/deployment.md, idle connections of a balancer). */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { ownLoad } from '../support/own-load.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const restIn = ({ path }: ConfigDirectory): string => `
admin: { port: 0 }
ledger: { url: "sqlite:${path}/ledger.db" }
providers: { alpha: { form: A, url: "http://127.0.0.1:1", timeout: 0.2 } }
routing: { providers: [alpha] }`
const request = 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n\r\n'

/** A connection as a balancer keeps it. */
class KeptConnection {
  readonly closed: Promise<number>
  private readonly socket: Socket
  private answeredAt = 0

  constructor(url: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1')
      .on('error', () => {})
      .resume()
    this.closed = once(this.socket, 'close').then(() => (performance.now() - this.answeredAt) / 1000)
  }

  /** The head of the response. */
  async send(): Promise<string> {
    this.socket.write(request)
    const [response] = (await once(this.socket, 'data')) as [Buffer]
    this.answeredAt = performance.now()
    return response.toString('latin1')
  }
}

it('a connection stays open for server.keepAliveTimeout after a response, and as long after each further one', async () => {
  using directory = new ConfigDirectory()
  // The idle timeout of a connection is far shorter: it must not end one that is kept.
  const server = 'server: { port: 0, socketTimeout: 0.4, keepAliveTimeout: 2.5 }'
  await using gateway = await InProcessGateway.start(directory.write(server + restIn(directory)))
  const connection = new KeptConnection(gateway.url)
  expect(await connection.send()).toMatch(/^HTTP\/1.1 404 .*keep-alive: timeout=1\r\n/is)
  await pause(2_000)
  expect(await connection.send()).toMatch(/^HTTP\/1.1 404 /)
  const kept = await connection.closed
  expect(kept).toBeGreaterThan(2.4)
  expect(kept).toBeLessThan(4)
})

it('a short one ends a connection early', async () => {
  using directory = new ConfigDirectory()
  await using gateway = await InProcessGateway.start(
    directory.write(`server: { port: 0, keepAliveTimeout: 0.3 }${restIn(directory)}`),
  )
  const connection = new KeptConnection(gateway.url)
  await connection.send()
  expect(await connection.closed).toBeLessThan(1.5)
})

it('workers keep it too, and the times in which a request must arrive do not count between two requests', {
  timeout: 30_000,
}, async () => {
  using directory = new ConfigDirectory()
  const preload = join(directory.path, 'soon.mjs')
  writeFileSync(
    preload,
    `import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
const { createServer } = http
const soon = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 }
http.createServer = (options, listener) => createServer({ ...options, ...soon }, listener)
syncBuiltinESMExports()`,
  )
  const file = directory.write(`server: { port: 0, workers: 2, shutdownDelay: 0, keepAliveTimeout: 3 }${restIn(directory)}`)
  await using gateway = new Swapgate(['start', '--config', file], { env: { NODE_OPTIONS: `--import=${preload} ${ownLoad}` } })
  const url = (await gateway.urls()).get('gateway') ?? ''
  // One that sends nothing ends: the shorter times are in force.
  const silent = new KeptConnection(url)
  const connection = new KeptConnection(url)
  await connection.send()
  await silent.closed
  await pause(1_500)
  expect(await connection.send()).toMatch(/^HTTP\/1.1 404 /)
  expect(await connection.closed).toBeGreaterThan(2.9)
})
