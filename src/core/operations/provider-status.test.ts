import { describe, expect, it } from 'vitest'
import { type MirrorCounts, MirrorStatistics } from '../routing/mirror.ts'
import { mirrorFigures, providerStatus } from './provider-status.ts'

it('W20: a provider may have the name of a property that every object has', async () => {
  const provider = {
    tag: 'constructor',
    account: 'constructor',
    form: 'A',
    state: 'active',
    rateLimit: { quotes: 0, create: 0, read: 0 },
  } as const
  const settings = {
    providers: [
      { ...provider, name: 'constructor' },
      { ...provider, name: 'beta', tag: 'beta' },
    ],
    routing: { strategy: 'weighted', providers: ['beta'], weights: { beta: 1 } },
    redis: { url: '' },
  }
  const { providers } = await providerStatus(settings, {
    ledgerAdmin: { openCounts: async () => [] },
    overrides: { read: async () => [] },
    suspensions: { read: async () => [] },
    replicaFigures: { read: async () => [] },
  })
  expect(providers.map(({ weight }) => weight)).toEqual([null, 1])
})

it('W2: a tag that the file lacks is off, while something is open there', async () => {
  const settings = { providers: [], routing: { strategy: 'priority', providers: [] }, redis: { url: '' } }
  const { providers } = await providerStatus(settings, {
    ledgerAdmin: {
      openCounts: async () => [
        { provider: 'gone', state: 'done', status: 'exchanging', count: 2 },
        { provider: 'gone', state: 'unknown', count: 1 },
      ],
    },
    overrides: { read: async () => [] },
    suspensions: { read: async () => [] },
    replicaFigures: { read: async () => [] },
  })
  expect(providers).toEqual([
    {
      name: 'gone',
      tag: 'gone',
      form: null,
      state: 'off',
      since: null,
      override: null,
      isRouted: false,
      weight: null,
      open: { exchanging: 2 },
      openTransactions: 2,
      pendingCreates: 0,
      unknownCreates: 1,
      suspended: [],
      live: null,
    },
  ])
})

function statisticsOf(deviations: readonly number[], pair: readonly [string, string] = ['BTC', 'ETH']): MirrorStatistics {
  const statistics = new MirrorStatistics()
  statistics.begin('beta')
  for (const deviation of deviations) statistics.addDeviation(...pair, deviation)
  return statistics
}
const figuresOf = (...all: readonly MirrorStatistics[]) =>
  mirrorFigures(
    'beta',
    all.map((statistics) => JSON.parse(JSON.stringify(statistics.counts())) as MirrorCounts),
  )

describe('the figures of a mirror', () => {
  it('are the median and the 95th percentile of the sizes, each with its sign, within 3 %', () => {
    const figures = figuresOf(statisticsOf(Array.from({ length: 100 }, (_, at) => -(at + 1) / 1000)))
    expect(figures?.samples).toBe(100)
    expect(figures?.medianDeviation).toBeCloseTo(-0.051, 2)
    expect((figures?.medianDeviation ?? 0) / -0.051).toBeGreaterThan(0.96)
    expect((figures?.p95Deviation ?? 0) / -0.095).toBeCloseTo(1, 1)
  })

  it('keep the sign of what deviates most, on either side', () => {
    expect((figuresOf(statisticsOf([-0.005, -0.005, -0.005]))?.p95Deviation ?? 0) / -0.005).toBeCloseTo(1, 1)
    expect((figuresOf(statisticsOf([-0.001, -0.001, 0.02]))?.p95Deviation ?? 0) / 0.02).toBeCloseTo(1, 1)
    expect((figuresOf(statisticsOf([0.02, -0.02]))?.p95Deviation ?? 0) / -0.02).toBeCloseTo(1, 1)
  })

  it('are summed over replicas like those of one replica', () => {
    const all = Array.from({ length: 60 }, (_, at) => (at - 20) / 500)
    const [first, second] = [statisticsOf(all.slice(0, 10)), statisticsOf(all.slice(10))]
    expect(figuresOf(first, second)).toEqual(figuresOf(statisticsOf(all)))
  })

  it('distinguish equal quotes from a deviation of a millionth', () => {
    expect(figuresOf(statisticsOf([0, 0, 0]))).toMatchObject({ medianDeviation: 0, p95Deviation: 0 })
    expect(figuresOf(statisticsOf([1e-6]))).toMatchObject({ medianDeviation: 0.000001 })
    expect(figuresOf(statisticsOf([]))).toMatchObject({ samples: 0, medianDeviation: null, p95Deviation: null, pairs: [] })
  })

  it('are of the requested candidate', () => {
    const statistics = statisticsOf([0.1])
    statistics.addError()
    statistics.addMissing('BTC', 'XMR')
    statistics.setMissingAssets(['XMR'])
    expect(figuresOf(statistics)).toMatchObject({
      samples: 1,
      errors: 1,
      missingPairs: [{ from: 'BTC', to: 'XMR' }],
      missingAssets: ['XMR'],
    })
    statistics.begin('gamma')
    expect(figuresOf(statistics)).toBeNull()
  })
})
