/** docs/contract.md §18.2: streams over two gateways on one ledger, with workers, and at SIGTERM. */
import { afterEach, expect, test } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import { Gateways } from '../process/gateways.ts'
import { openEvents } from '../support/event-source.ts'

let gateways: Gateways
afterEach(() => gateways[Symbol.asyncDispose]())

const keyOf = ({ key }: Customer) => ({ authorization: `Bearer ${key}` })
const allOf = (url: string): string => `${url}/a/api/v2/events`

test('a change at one gateway is sent by the other, which goes on where a stopped one was', { timeout: 60_000 }, async () => {
  gateways = await Gateways.prepare()
  const [one, other] = [await gateways.startInProcess(), await gateways.startInProcess()]
  const acme = await gateways.customer('acme', 'A')
  const stream = await openEvents(allOf(other.url), keyOf(acme))
  const made = await acme.create(one.url, gateways.order())
  const [first] = await stream.received(1)
  expect(first).toMatchObject({ event: 'transaction', id: '1', data: { id: (made?.json as { id?: string } | undefined)?.id } })
  await other.stop()
  expect(await stream.untilEnd()).toBe('whole')
  await acme.create(one.url, gateways.order())
  const resumed = await openEvents(allOf(one.url), { ...keyOf(acme), 'last-event-id': '1' })
  expect((await resumed.received(1))[0]?.id).toBe('2')
})

test('with workers each of them sends every change, and SIGTERM ends the streams as whole responses', {
  timeout: 90_000,
}, async () => {
  gateways = await Gateways.prepare({ server: { port: 0, workers: 2, shutdownDelay: 5 } })
  const gateway = await gateways.start()
  const acme = await gateways.customer('acme', 'A')
  const streams = await Promise.all(Array.from({ length: 6 }, () => openEvents(allOf(gateway.url), keyOf(acme))))
  await acme.create(gateway.url, gateways.order())
  for (const stream of streams) expect((await stream.received(1))[0]?.id).toBe('1')
  gateway.process.child.kill('SIGTERM')
  const stoppedAt = performance.now()
  expect(await Promise.all(streams.map((stream) => stream.untilEnd()))).toEqual(streams.map(() => 'whole'))
  expect(performance.now() - stoppedAt).toBeLessThan(4_000)
})
