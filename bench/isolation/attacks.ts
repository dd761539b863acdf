/** What accounts and operators of little right can do to a gateway by asking: streams, metrics and pages. Each function begins one, and returns its end. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { haproxyFile } from '../../test/deploy/balancers.ts'
import { ContainerRoot } from '../../test/deploy/container-root.ts'
import { execute } from '../../test/support/postgres-server.ts'
import { programOf } from '../../test/support/program.ts'

export interface Target {
  readonly port: number
  readonly adminPort: number
  /** Of the ledger. */
  readonly postgresUrl: string
}

const rows = 30_000
const streamsPerAccount = 20
const streams = 2_000
const metricsConnections = 8
const deliveries = 1_000

/** Adds rows to the only swap of each of these accounts. */
export async function seedRows({ postgresUrl }: Target, accounts: readonly string[]): Promise<void> {
  const names = accounts.map((name) => `'${name}'`).join(', ')
  await execute(
    postgresUrl,
    `with first as (select distinct on (owner) e.* from transaction_events e join accounts on accounts.id = e.owner where name in (${names}) order by owner, e.id)
     insert into transaction_events (owner, provider, provider_id, at, number, transaction_number, digest, state, is_final)
     select owner, provider, provider_id, at, row, row, 'row ' || row, state, 0 from first, generate_series(10, ${rows}) as row`,
  )
  await execute(
    postgresUrl,
    `update event_owners set last_number = ${rows} from accounts where accounts.id = owner and name in (${names})`,
  )
}

/** Streams of these keys that begin with all rows of their account, again and again. */
export async function replay({ port }: Target, keys: readonly string[]): Promise<() => void> {
  let isOver = false
  const open = new Set<ClientRequest>()
  const again = (key: string): void => {
    if (isOver) return
    const headers = { authorization: `Bearer ${key}`, 'last-event-id': '9' }
    const sent = request({ port, path: '/a/api/v2/events', agent: false, headers }, (response) => {
      let tail = ''
      response.setEncoding('latin1').on('data', (text: string) => {
        tail = (tail + text).slice(-10_000)
        if (tail.includes(`\nid: ${rows}\n`)) sent.destroy()
      })
    })
    open.add(sent)
    sent
      .on('error', () => {})
      .on('close', () => {
        open.delete(sent)
        setTimeout(again, 100, key)
      })
    sent.end()
  }
  for (const key of keys) for (let count = 0; count < 4; count++) again(key)
  await wait(500)
  return () => {
    isOver = true
    for (const sent of open) sent.destroy()
  }
}

/** Streams through `deploy/haproxy.cfg`, from ten addresses; it opens half of them. */
export async function streamThroughBalancer({ port, adminPort }: Target, keys: readonly string[]): Promise<() => void> {
  const containerRoot = new ContainerRoot()
  containerRoot.prepare('no-key')
  const places = [1, 2].map(() => ({ url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` }))
  const ports = { api: 19_231, operators: 19_232, admin: 19_233, once: 19_234 }
  const program = await programOf({ names: ['haproxy'], package: 'haproxy' })
  const haproxy = spawn(program, ['-db', '-f', containerRoot.write('haproxy.cfg', haproxyFile(ports, places))], {
    stdio: 'ignore',
  })
  await wait(1_500)
  const sessions: ClientHttp2Session[] = []
  for (let at = 0; at < streams / streamsPerAccount; at++) {
    const options = { host: '127.0.0.1', port: ports.api, localAddress: `127.0.0.${2 + (at % 10)}`, rejectUnauthorized: false }
    const session = connectHttp2('https://localhost', { createConnection: () => connectTls({ ...options, ALPNProtocols: ['h2'] }) })
    sessions.push(session.on('error', () => {}))
    await once(session, 'connect')
    for (let count = 0; count < streamsPerAccount; count++)
      session
        .request({ ':path': '/a/api/v2/events', authorization: `Bearer ${keys[at % keys.length]}` })
        .on('error', () => {})
        .resume()
  }
  await wait(1_000)
  return () => {
    for (const session of sessions) session.destroy()
    haproxy.kill('SIGKILL')
    containerRoot[Symbol.dispose]()
  }
}

/** Metrics, on connections that never wait for a response. */
export async function pipelineMetrics({ adminPort }: Target): Promise<() => void> {
  const text = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'
  let isOver = false
  const sockets = new Set<Socket>()
  const open = (): void => {
    if (isOver) return
    const socket = connect(adminPort, '127.0.0.1')
    sockets.add(socket)
    const timer = setInterval(() => socket.writableLength < 65_536 && socket.write(text.repeat(20)), 10)
    socket
      .on('error', () => {})
      .on('close', () => {
        clearInterval(timer)
        sockets.delete(socket)
        setTimeout(open, 100)
      })
    socket.resume()
  }
  for (let count = 0; count < metricsConnections; count++) open()
  return () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
  }
}

/** A webhook of this account with a long URL and many failed deliveries, whose ids are none that the gateway makes. Returns its id. */
export async function seedDeliveries({ adminPort, postgresUrl }: Target, account: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ account, url: `https://receiver.invalid/${'p'.repeat(1_900)}`, form: 'A' })
  const { id } = (await (await fetch(`http://127.0.0.1:${adminPort}/api/webhooks`, { method: 'POST', headers, body })).json()) as {
    id: string
  }
  const attempt = {
    at: Date.now(),
    status: 500,
    ms: 12,
    body: 'An error of a receiver, at line 12 of server.js. '.repeat(4).slice(0, 200),
  }
  await execute(
    postgresUrl,
    `insert into webhook_deliveries (id, webhook, provider, provider_id, event, state, attempt_count, attempts, created_at, ended_at)
     select '${id}-failed-' || row, '${id}', provider, provider_id, row, 'failed', 8, '${JSON.stringify(Array(8).fill(attempt))}', ${Date.now()}, ${Date.now()}
     from generate_series(1, ${deliveries}) as row, (select provider, provider_id from transactions where provider_id is not null limit 1) as swap`,
  )
  return id
}

/** Two readers of that webhook's deliveries, one page after the other. */
export async function readDeliveries({ adminPort }: Target, webhook: string, token: string): Promise<() => void> {
  let isOver = false
  const headers = { authorization: `Bearer ${token}` }
  const read = async (): Promise<void> => {
    while (!isOver)
      await fetch(`http://127.0.0.1:${adminPort}/api/webhooks/${webhook}/deliveries`, { headers })
        .then((page) => page.text())
        .catch(() => wait(50))
  }
  void read()
  void read()
  return () => {
    isOver = true
  }
}
