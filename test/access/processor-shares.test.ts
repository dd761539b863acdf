/** docs/faults.md, overload: who takes much of the processor is refused before others. */
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { LoadLevel } from '../../src/core/access/admission.ts'
import { ProcessorShares } from '../../src/core/access/processor-shares.ts'
import { startRig } from '../native/rig.ts'
import { openEvents } from '../support/event-source.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

let managed: Managed | undefined
afterEach(() => managed?.close())

/** Each piece of work counts as much, since a test does not keep a processor busy; the clock stands still. */
class CoarseShares extends ProcessorShares {
  constructor() {
    super(
      () => 0,
      () => 0,
    )
  }

  override count(identity: string): void {
    super.count(identity, 100_000)
  }
}

test.each(['list', 'stream'])('an account that takes much by a %s is refused before another one', async (work) => {
  const load: { level: LoadLevel } = { level: 0 }
  managed = await startManaged({ load, processorShares: new CoarseShares() })
  const { gateway } = managed
  const client = managed.client('A')
  const [heavy, light] = [await managed.issue('heavy'), await managed.issue('light')]
  const quote = async (key: string) =>
    (await client.get('/rate?coinFrom=BTC&coinTo=USDTTRC20&amount=0.1', { key })).headers['x-swap-reason'] ?? 'served'
  const { id } = (await client.post('/transactions', orderIn('A'), { key: heavy })).json as { id: string }
  await client.get(`/transactions/${id}`, { key: heavy })
  load.level = 1
  expect([await quote(heavy), await quote(light)]).toEqual(['overloaded', 'overloaded'])
  load.level = 0
  if (work === 'list') await client.get('/transactions', { key: heavy })
  else {
    const stream = await openEvents(`${gateway.url}/a/api/v2/transactions/${id}/events`, { authorization: `Bearer ${heavy}` })
    await stream.received(1)
  }
  load.level = 1
  expect([await quote(heavy), await quote(light)]).toEqual(['overloaded', 'served'])
  expect((await client.get(`/transactions/${id}`, { key: heavy })).headers['x-swap-reason']).toBe('overloaded')
  load.level = 2
  expect([await quote(heavy), await quote(light)]).toEqual(['overloaded', 'overloaded'])
  expect((await client.post('/transactions', orderIn('A'), { key: heavy })).status).toBe(503)
  expect((await client.post('/transactions', orderIn('A'), { key: light })).status).toBe(201)
})

test.each(['identity', 'gzip'])('so is one that takes much by native calls (%s)', async (coding) => {
  const load: { level: LoadLevel } = { level: 0 }
  const processorShares = new CoarseShares()
  await using rig = await startRig({ load, processorShares })
  const body = Buffer.from('{"amount":"1"}')
  rig.provider.respond = (response) =>
    coding === 'gzip' ? response.setHeader('content-encoding', 'gzip').end(gzipSync(body)) : response.end(body)
  expect((await rig.send('/exchange/range')).status).toBe(200)
  load.level = 1
  expect((await rig.send('/exchange/range')).status).toBe(503)
})
