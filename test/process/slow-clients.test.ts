// Takes long: slow clients.
/** Clients that send slowly or never to the end, few and with timeouts twenty times shorter; in full with `npm run test:soak`. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import { hangUp } from '../support/client.ts'
import { Gateways, type StartedGateway } from './gateways.ts'
import { shortTimeouts } from './short-timeouts.ts'
import { holdOpen, neverReads, residentMemory, slownesses } from './slow-clients.ts'

const isSoak = process.env.SWAPGATE_SOAK !== undefined
const [times, clients] = isSoak ? [1, 1_000] : [20, 20]
const timeout = isSoak ? 300_000 : 30_000
/** Seconds that a busy machine may be late. */
const late = isSoak ? 1.5 : 0.7

let gateways: Gateways
let gateway: StartedGateway
let acme: Customer
let port: number
let pid: number
beforeAll(async () => {
  const server = { port: 0, socketTimeout: 75 / times, keepAliveTimeout: 66 / times }
  gateways = await Gateways.prepare({ server }, { timeout: 37 / times })
  gateway = await gateways.start(shortTimeouts(gateways.directory, times))
  acme = await gateways.customer('acme', 'A')
  port = Number(new URL(gateway.url).port)
  pid = gateway.process.child.pid as number
})
beforeEach(hangUp)
afterAll(() => gateways[Symbol.asyncDispose]())

const request = (): string =>
  `GET /a/api/v2/transactions?size=100 HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${acme.key}\r\n\r\n`

it.each(Object.entries(slownesses))(
  'X1: a client %s is let go in time, and others are served',
  { timeout },
  async (_, slowness) => {
    const limit = slowness.limit / times
    const held = Promise.all(Array.from({ length: clients }, () => holdOpen(port, acme.key, slowness, limit / 5)))
    const startedAt = performance.now()
    expect((await acme.create(gateway.url, gateways.order()))?.status).toBe(201)
    // A thousand of them open their connections at the same moment.
    expect(performance.now() - startedAt).toBeLessThan(isSoak ? 2_000 : 1_000)
    for (const { after, received: output } of await held) {
      expect(output).toMatch(slowness.received)
      expect(after).toBeGreaterThanOrEqual(limit * 0.9)
      expect(after).toBeLessThan(limit * (slowness.most ?? 1) + late)
    }
  },
)

it('X1, X6: clients that request long lists and read nothing are closed, and little is kept for them', { timeout }, async () => {
  // Read once more after a minute, so they are made anew.
  for (let n = 0; n < 100; n++) await acme.create(gateway.url, gateways.order())
  const { text = '' } = (await acme.list(gateway.url)) ?? {}
  const [readers, megabytes] = [4, 100]
  const interval = 75 / times + late
  const before = residentMemory(pid)
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, residentMemory(pid) - before)
  }, 50)
  const count = Math.ceil((megabytes * 2 ** 20) / text.length)
  // Node gives a silence in which bytes went once more the same time, and the gateway needs its own to write them.
  const held = Promise.all(Array.from({ length: readers }, () => neverReads(port, request(), count, interval)))
  for (const after of await held) expect(after).toBeLessThan(4 * interval)
  clearInterval(watching)
  console.info(`${readers * megabytes} MB of unread lists: ${most.toFixed(0)} MB`)
  expect(most, 'megabytes').toBeLessThan(readers * megabytes * 0.75)
  await expect.poll(async () => (await acme.create(gateway.url, gateways.order()))?.status).toBe(201)
})
