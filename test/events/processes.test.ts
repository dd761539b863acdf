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

test.each([1, 2])(
  'with %i workers each sends every change; SIGTERM ends the streams as whole responses, and the process soon',
  {
    timeout: 90_000,
  },
  async (workers) => {
    const shutdownDelay = 3
    gateways = await Gateways.prepare({ server: { port: 0, workers, shutdownDelay, drain: 30 } })
    const { url, process } = await gateways.start()
    const acme = await gateways.customer('acme', 'A')
    const first = await acme.create(url, gateways.order())
    const id = String((first?.json as { id?: string } | undefined)?.id)
    const ofAccount = await Promise.all(Array.from({ length: 4 }, () => openEvents(allOf(url), keyOf(acme))))
    const ofSwap = await Promise.all(
      Array.from({ length: 2 }, () => openEvents(`${url}/a/api/v2/transactions/${id}/events`, keyOf(acme))),
    )
    await acme.create(url, gateways.order())
    for (const stream of ofAccount) expect((await stream.received(1))[0]?.id).toBe('2')
    for (const stream of ofSwap) expect((await stream.received(1))[0]?.id).toBe('1')
    const streams = [...ofAccount, ...ofSwap]
    expect(streams.map(({ headers }) => headers['transfer-encoding'])).toEqual(streams.map(() => 'chunked'))
    process.child.kill('SIGTERM')
    const stoppedAt = performance.now()
    expect(await Promise.all(streams.map((stream) => stream.untilEnd()))).toEqual(streams.map(() => 'whole'))
    expect(performance.now() - stoppedAt).toBeLessThan(1_500)
    const late = await openEvents(allOf(url), keyOf(acme))
    expect([late.status, late.headers['x-swap-reason'], late.headers.connection]).toEqual([503, 'stopping', 'close'])
    expect((await process.ended).exitCode).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(1_000 * shutdownDelay + 4_000)
  },
)
