/** Everything that a connection may be in the middle of when the process gets SIGTERM. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { Gateways } from './gateways.ts'

const [creates, others] = [100, 30]
const [shutdownDelay, drain] = [0.6, 5]
const nowhere = 'GET /nowhere HTTP/1.1\r\nHost: gateway\r\n'
const post = 'POST /a/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 99\r\n'

/** What a client has sent of a request: nothing, a complete one, half the headers, half a body, to which a response is due. */
const halves = (key: string): readonly string[] => [
  '',
  `${nowhere}\r\n`,
  `${nowhere}X-Half: `,
  `${post}Authorization: Bearer ${key}\r\n\r\n{`,
]

async function opened(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.resume().write(bytes)
  return socket
}

it('D1: with 100 creates in flight, idle and half-sent connections it ends in time, and none is lost', {
  timeout: 60_000,
}, async () => {
  await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay, drain } })
  const gateway = await gateways.start()
  const acme = await gateways.customer('acme', 'A')
  const port = Number(new URL(gateway.url).port)
  const ready = async (): Promise<number> => (await sendRequest(gateway.adminUrl, { path: '/readyz' })).status
  const bytes = halves(acme.key).flatMap((half) => Array.from({ length: others }, () => half))
  const open = await Promise.all(bytes.map((half) => opened(port, half)))
  const closed = open.map((socket) => new Promise<void>((resolve) => void socket.once('close', () => resolve())))

  await gateways.provider.fault({ times: creates, delay: 4_000 })
  const responses = Array.from({ length: creates }, () => acme.create(gateway.url, gateways.order()))
  const arrived = (): number =>
    readJournal(gateways.provider.settings.journal).filter((entry) => 'operation' in entry && entry.operation === 'create').length
  await vi.waitFor(() => expect(arrived()).toBe(creates), { timeout: eventTimeoutMs, interval: 20 })
  expect(await ready()).toBe(200)

  const signalledAt = performance.now()
  gateway.process.child.kill('SIGTERM')
  await vi.waitFor(async () => expect(await ready()).toBe(503), { interval: 10, timeout: eventTimeoutMs })
  expect(performance.now() - signalledAt).toBeLessThan(500)
  // A half that becomes whole before new connections are refused is a request like any other.
  const [late] = [open[2 * others] as Socket]
  late.write('x\r\n\r\n')
  const [text] = await once(late, 'data')
  expect(String(text)).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\nconnection: close\r\n/i)

  for (const response of await Promise.all(responses))
    expect([response?.status, response?.headers.connection]).toEqual([201, 'close'])
  await Promise.all(closed)
  expect(await gateway.process.ended).toMatchObject({ exitCode: 0, complaints: '' })
  expect((performance.now() - signalledAt) / 1000).toBeLessThan(shutdownDelay + drain + 1)
  const next = await gateways.startInProcess()
  expect(await gateways.violations(next, [acme])).toEqual([])
})
