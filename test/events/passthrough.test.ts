/** docs/contract.md §18.2: with the provider's own keys there are streams of single swaps. */
import { expect, onTestFinished, test } from 'vitest'
import { openEvents } from '../support/event-source.ts'
import { clientKey } from '../support/gateway.ts'
import { orderIn } from '../support/managed.ts'
import { startPassthrough } from '../support/passthrough.ts'

test('a change that a get of the same key finds is sent; an account has no stream', async () => {
  const rig = await startPassthrough('alpha', { sections: { ledger: { refreshAfter: 0 } } })
  onTestFinished(() => rig[Symbol.asyncDispose]())
  const headers = { authorization: `Bearer ${clientKey}` }
  const client = rig.client('A')
  const { id } = (await client.post('/transactions', orderIn('A'), { key: clientKey })).json as { id: string }
  const stream = await openEvents(`${rig.gateway.url}/a/api/v2/transactions/${id}/events`, headers)
  expect(stream.status).toBe(200)
  await stream.received(1)
  rig.alpha.holdings.swaps = rig.alpha.holdings.swaps.map((known) => ({ ...known, status: 'success' }))
  await client.get(`/transactions/${id}`, { key: clientKey })
  expect(await stream.untilEnd()).toBe('whole')
  expect(stream.events.at(-1)?.data).toMatchObject({ id, status: 'success' })
  const refused = await openEvents(`${rig.gateway.url}/a/api/v2/events`, headers)
  expect([refused.status, refused.headers['x-swap-reason']]).toEqual([404, 'path'])
})
