/** A create of unknown outcome, and the reconciliation that found it, are linked by traces. */
import { expect, test } from 'vitest'
import { orderIn } from '../support/managed.ts'
import { loseResponses } from '../support/outcomes.ts'
import { Caller } from './collector.ts'
import { startRig } from './rig.ts'

test('a look for an unknown create is a trace of its own that refers to the request, and is kept', async () => {
  await using rig = await startRig({ telemetry: { ratio: 0 } })
  await rig.warm()
  loseResponses(rig.alpha)
  const caller = new Caller()
  const { status } = await rig.client('A').post('/transactions', orderIn('A'), { key: rig.key, headers: caller.headers })
  expect(status).toBe(504)
  const create = await rig.collector.traceFrom(caller)
  // It is looked for after five seconds.
  const find = () => rig.collector.traces.find(({ root }) => root.name === 'reconciliation')
  await expect.poll(find).toBeDefined()
  const look = find()
  const request = [{ traceId: create.root.traceId, spanId: create.root.spanId, traceState: '' }]
  expect(look?.root).toMatchObject({ kind: 'internal', links: request, status: 'unset' })
  expect(look?.root.traceId).not.toBe(create.root.traceId)
  expect(look?.named('check')).toMatchObject({
    links: request,
    attributes: { 'swapgate.outcome': 'found', 'swapgate.provider': 'alpha' },
  })
  expect(look?.clients.map(({ attributes }) => attributes['swapgate.operation'])).toEqual([
    'listTransactions',
    'listTransactions',
    'getTransaction',
  ])
  const [listed] = rig.alpha.received('list')
  expect(listed?.headers.traceparent).toBe(`00-${look?.root.traceId}-${look?.clients[0]?.spanId}-00`)
}, 25_000)
