import { expect, it } from 'vitest'
import type { Observation } from '../../domain/observation.ts'
import { latencyOf, type ProviderCounts, ProviderFigures, percentile } from './provider-figures.ts'
import { liveFigures } from './provider-status.ts'

const request = (provider: string | undefined): Observation => ({ what: 'request', provider }) as unknown as Observation
const call = (outcome: string, seconds = 0.1): Observation =>
  ({ what: 'call', provider: 'alpha', outcome, seconds }) as unknown as Observation

function figures() {
  let now = 1_000_000
  const counted = new ProviderFigures(() => now)
  const pass = (ms: number): void => {
    now += ms
  }
  return { counted, pass }
}

it('counts requests, calls and failures of each provider', () => {
  const { counted } = figures()
  for (const provider of ['alpha', 'alpha', 'beta', undefined]) counted.observe(request(provider))
  for (const outcome of ['done', 'refused', 'limited', 'failed', 'timedOut', 'unreadable', 'keyRefused', 'unreachable']) {
    counted.observe(call(outcome))
  }
  expect(counted.counts('alpha')).toMatchObject({ requests: 2, calls: 8, failedCalls: 5 })
  expect(counted.counts('beta')).toMatchObject({ requests: 1, calls: 0 })
})

it('has the share of new swaps: what is read of old ones, fails, or is repeated, is none', () => {
  const { counted } = figures()
  const end = (provider: string, operation: string, result: object = {}): void =>
    counted.observe({ what: 'request', provider, operation, ...result } as unknown as Observation)
  for (let read = 0; read < 9; read++) end('alpha', 'getTransaction')
  const shareOf = (tag: string) => {
    const providers = ['alpha', 'beta'].map((name) => ({ ...counted.counts(name), listAgeSeconds: null, assets: null }))
    const replicas = [{ replica: 'one', ageMs: 0, mirror: null, providers }]
    return liveFigures({ tag, rateLimit: { quotes: 0, create: 0, read: 0 } }, false, replicas).share
  }
  expect(shareOf('alpha')).toBeNull()
  for (const result of [{}, {}, {}, { fault: {} }, { isReplay: true }]) end('beta', 'createTransaction', result)
  expect([shareOf('alpha'), shareOf('beta')]).toEqual([0, 1])
  end('alpha', 'createTransaction')
  expect([shareOf('alpha'), shareOf('beta')]).toEqual([0.25, 0.75])
})

it('counts why calls found no provider, or no response that can be read, for a minute', () => {
  const { counted, pass } = figures()
  for (const failureCause of ['refused', 'not_json', 'not_json', undefined])
    counted.observe({ ...call('unreachable'), failureCause } as Observation)
  const counts = { ...counted.counts('alpha'), listAgeSeconds: null, assets: null }
  expect(counts.causes).toEqual({ refused: 1, not_json: 2 })
  const { causes: _, ...older } = counts
  const replicas = [counts, counts, older].map((one) => ({ replica: 'one', ageMs: 0, mirror: null, providers: [one] }))
  const { causes } = liveFigures({ tag: 'alpha', rateLimit: { quotes: 0, create: 0, read: 0 } }, false, replicas)
  expect(Object.entries(causes)).toEqual([
    ['not_json', 4],
    ['refused', 2],
  ])
  pass(61_000)
  expect(counted.counts('alpha').causes).toEqual({})
})

it('counts judgements of creates that did not pass, and how far creates are off their quotes, for a minute', () => {
  const { counted, pass } = figures()
  for (const outcome of ['passed', 'tolerated', 'counted', 'refused', 'refused'] as const)
    counted.observe({ what: 'judgement', provider: 'alpha', kind: 'amount', outcome, network: 'BTC' })
  for (const deviation of [-0.5, 0.25]) counted.observe({ what: 'quoteDeviation', provider: 'alpha', deviation })
  const counts = { ...counted.counts('alpha'), listAgeSeconds: null, assets: null }
  expect(counts).toMatchObject({ judgements: { refused: 2, counted: 1 }, quoteDeviation: { creates: 2, sum: -0.25 } })
  const replica = (providers: readonly ProviderCounts[]) => ({ replica: 'one', ageMs: 0, mirror: null, providers })
  const { judgements: _, quoteDeviation: __, ...older } = counts
  const live = liveFigures({ tag: 'alpha', rateLimit: { quotes: 0, create: 0, read: 0 } }, false, [
    ...[counts, counts, older].map((one) => replica([one])),
  ])
  expect(live).toMatchObject({ judgements: { refused: 4, counted: 2 }, quoteDeviation: -0.125 })
  pass(61_000)
  expect(counted.counts('alpha')).toMatchObject({ judgements: { refused: 0, counted: 0 }, quoteDeviation: { creates: 0 } })
})

it('forgets what is older than a minute, and nothing younger than 55 s', () => {
  const { counted, pass } = figures()
  counted.observe(request('alpha'))
  pass(54_000)
  counted.observe(request('alpha'))
  expect(counted.counts('alpha').requests).toBe(2)
  pass(7_000)
  expect(counted.counts('alpha').requests).toBe(1)
  pass(60_000)
  expect(counted.counts('alpha').requests).toBe(0)
})

it('keeps a minute of memory however long it runs', () => {
  const { counted, pass } = figures()
  for (let at = 0; at < 10_000; at++) {
    counted.observe(call('done', at / 1000))
    pass(1_000)
  }
  expect(counted.counts('alpha').calls).toBeLessThanOrEqual(60)
})

it('has latencies within 5 %', () => {
  const { counted } = figures()
  for (let ms = 1; ms <= 1_000; ms++) counted.observe(call('done', ms / 1000))
  const { latency } = counted.counts('alpha')
  expect((percentile([latency], 0.5, latencyOf) ?? 0) / 500).toBeCloseTo(1, 0.9)
  expect((percentile([latency], 0.95, latencyOf) ?? 0) / 950).toBeCloseTo(1, 0.9)
})

it('has the state of breakers that are not closed, and the remaining budgets', () => {
  const { counted, pass } = figures()
  const breaker = (operation: string, state: string): void =>
    counted.observe({ what: 'breaker', provider: 'alpha', operation, state } as unknown as Observation)
  breaker('getRate', 'open')
  breaker('createTransaction', 'open')
  breaker('createTransaction', 'closed')
  counted.observe({ what: 'budget', provider: 'alpha', policy: 'quotes', remaining: 7 })
  expect(counted.counts('alpha')).toMatchObject({ breaker: { getRate: 'open' }, budgetLeft: { quotes: 7 } })
  pass(60_000)
  expect(counted.counts('alpha')).toMatchObject({ breaker: { getRate: 'open' }, budgetLeft: {} })
})
