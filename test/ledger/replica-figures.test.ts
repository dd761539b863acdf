/** The port of what replicas count, in every store. */
import { expect, test } from 'vitest'
import type { ReplicaCounts } from '../../src/core/operations/provider-figures.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { describeStores, durableStores } from './stores.ts'

const counts = (requests: number): ReplicaCounts => ({
  providers: [
    {
      provider: 'alpha',
      requests,
      creates: 0,
      calls: 1,
      failedCalls: 0,
      latency: { 3: 1 },
      breaker: {},
      budgetLeft: { quotes: 5 },
      listAgeSeconds: null,
      assets: null,
      drift: 0,
    },
  ],
  mirror: null,
})

describeStores(durableStores, (shared) => {
  test('each replica has what it wrote last, for every process to read', async () => {
    const { replicaFigures, url } = await shared().openNew()
    await replicaFigures.write('one', counts(1))
    await replicaFigures.write('two', counts(2))
    await replicaFigures.write('one', counts(3))
    const other = await openLedger(url)
    const read = await other.replicaFigures.read()
    await other.close()
    expect(read.map(({ replica, providers }) => [replica, providers[0]?.requests])).toEqual([
      ['one', 3],
      ['two', 2],
    ])
    expect(read[0]).toMatchObject(counts(3))
    for (const { ageMs } of read) expect(ageMs).toBeLessThan(10_000)
  })

  test('a replica that has ended or is silent for 30 s is left out', async () => {
    const { replicaFigures, url } = await shared().openNew()
    for (const replica of ['ended', 'silent', 'well']) await replicaFigures.write(replica, counts(1))
    await replicaFigures.remove('ended')
    await query(url, "UPDATE replica_figures SET at = at - 31000 WHERE replica = 'silent'")
    expect((await replicaFigures.read()).map(({ replica }) => replica)).toEqual(['well'])
    expect([await replicaFigures.countOthers('well'), await replicaFigures.countOthers('new')]).toEqual([0, 1])
  })

  test('what a replica left behind an hour ago goes with the next that ends', async () => {
    const { replicaFigures, url } = await shared().openNew()
    for (const replica of ['killed', 'ended']) await replicaFigures.write(replica, counts(1))
    await query(url, "UPDATE replica_figures SET at = at - 3700000 WHERE replica = 'killed'")
    await replicaFigures.remove('ended')
    await query(url, 'UPDATE replica_figures SET at = at + 3700000')
    expect(await replicaFigures.read()).toEqual([])
  })
})
