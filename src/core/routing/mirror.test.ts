import { expect, it } from 'vitest'
import { MirrorStatistics } from './mirror.ts'

function statistics(): MirrorStatistics {
  const all = new MirrorStatistics()
  all.begin('beta')
  return all
}

it('counts deviations by pair, in buckets that grow by 5 %, apart by their sign', () => {
  const all = statistics()
  for (const deviation of [0, 1e-7, -1e-7, 0.01, 0.0101, -0.01, 0.02]) all.addDeviation('BTC', 'ETH', deviation)
  const [pair] = all.counts()?.pairs ?? []
  expect(Object.values(pair?.deviations ?? {}).toSorted()).toEqual([1, 1, 2, 3])
})

it('is reset for another candidate, and only then', () => {
  const all = statistics()
  all.addError()
  all.addMissing('BTC', 'XMR')
  all.setMissingAssets(['XMR'])
  all.begin('beta')
  expect(all.counts()).toMatchObject({ errors: 1, missingAssets: ['XMR'], pairs: [{ from: 'BTC', to: 'XMR', missing: 1 }] })
  all.begin('gamma')
  expect(all.counts()).toEqual({ provider: 'gamma', errors: 0, missingAssets: [], pairs: [] })
})

it('has no counts without a mirror', () => expect(new MirrorStatistics().counts()).toBeUndefined())

it('costs no more with ten thousand pairs than with two hundred', () => {
  const all = statistics()
  for (let at = 0; at < 10_000; at++) all.addDeviation(`COIN${at}`, 'BTC', 0.01)
  expect(all.counts()?.pairs).toHaveLength(200)
})

it('W17: a candidate with random quotes costs no more memory, and its samples all count', () => {
  const all = statistics()
  let seed = 1
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const samples = 200_000
  for (let at = 0; at < samples; at++) all.addDeviation(`COIN${at % 200}`, 'BTC', (random() - 0.5) * 10 ** (random() * 80 - 6))
  const counts = all.counts()
  expect(JSON.stringify(counts).length).toBeLessThan(150_000)
  const counted = counts?.pairs.flatMap(({ deviations }) => Object.values(deviations)).reduce((sum, one) => sum + one, 0)
  expect(counted).toBe(samples)
})
