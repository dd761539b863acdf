// Takes long: it waits for reads that are due.
/** docs/contract-operators.md §18.4: with the provider's own keys a swap that a stream listens to is read with the key of that stream. */
import { expect, test } from 'vitest'
import { openEvents } from '../support/event-source.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { clientKey } from '../support/gateway.ts'
import { orderIn } from '../support/managed.ts'
import { startPassthrough } from '../support/passthrough.ts'

test('many streams of one swap are one reader, with its key, until the last of them ends', {
  timeout: eventTimeoutMs,
}, async () => {
  await using passthrough = await startPassthrough('alpha')
  const { alpha, gateway, client } = passthrough
  const { id } = (await client('A').post('/transactions', orderIn('A'))).json as { id: string }
  const open = () => openEvents(`${gateway.url}/a/api/v2/transactions/${id}/events`, { authorization: `Bearer ${clientKey}` })
  const streams = [await open(), await open(), await open()]
  alpha.reset()
  alpha.holdings.swaps = alpha.holdings.swaps.map((held) => ({ ...held, status: 'confirmation' }))
  for (const stream of streams) await stream.received(2)
  const gets = alpha.received('get')
  expect(gets).toHaveLength(1)
  expect(gets[0]?.headers.authorization).toBe(`Bearer ${clientKey}`)
  expect(streams[0]?.events.at(-1)?.data).toMatchObject({ status: 'confirmation' })
  for (const stream of streams) stream.close()
})

test('a stream ends with the configuration whose connections read it, so that the client goes on with the next one', {
  timeout: eventTimeoutMs,
}, async () => {
  await using passthrough = await startPassthrough('alpha')
  const { gateway, client } = passthrough
  const { id } = (await client('A').post('/transactions', orderIn('A'))).json as { id: string }
  const headers = { authorization: `Bearer ${clientKey}` }
  const stream = await openEvents(`${gateway.url}/a/api/v2/transactions/${id}/events`, headers)
  await stream.received(1)
  passthrough.reconfigure({}, { timeout: 9 })
  expect(await stream.untilEnd()).toBe('whole')
})

test('a swap that the ledger has for another key of its client is read with the key of the stream, and takes no read of that one', {
  timeout: 4 * eventTimeoutMs,
}, async () => {
  await using passthrough = await startPassthrough('alpha')
  const { alpha, gateway, client } = passthrough
  const { id } = (await client('A').post('/transactions', orderIn('A'))).json as { id: string }
  const open = (key: string) => openEvents(`${gateway.url}/a/api/v2/transactions/${id}/events`, { authorization: `Bearer ${key}` })
  const newKey = 'the-key-that-its-client-has-now'
  const [first, ...others] = [await open(clientKey), await open(newKey), await open(newKey)]
  for (const stream of [first, ...others]) await stream?.received(1)
  alpha.reset()
  const createdAt = new Date().toISOString()
  for (const status of ['confirmation', 'success']) {
    alpha.holdings.swaps = alpha.holdings.swaps.map((held) => ({ ...held, status, createdAt }))
    for (const stream of [first, ...others]) await expect.poll(() => stream?.events.at(-1)?.data).toMatchObject({ id, status })
  }
  for (const stream of [first, ...others]) expect(await stream?.untilEnd()).toBe('whole')
  expect(others[0]?.events.map(({ id: number }) => number)).toEqual([undefined, undefined, undefined])
  const keys = alpha.received('get').map(({ headers }) => headers.authorization)
  expect(keys.filter((key) => key === `Bearer ${newKey}`)).toHaveLength(2)
})
