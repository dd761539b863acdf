/** docs/observability.md#earlier-names: each metric with an earlier name has both, from one count. */

import { expect, it } from 'vitest'
import { createMetrics } from '../../src/adapters/metrics/index.ts'
import { nothingToRead } from '../support/metrics-options.ts'

const renamed = [
  ['swapgate_attempts', 'swapgate_provider_calls'],
  ['swapgate_budget_size', 'swapgate_upstream_quota_limit'],
  ['swapgate_budget_remaining', 'swapgate_upstream_quota_remaining'],
  ['swapgate_shadow_comparisons', 'swapgate_mirror_comparisons'],
  ['swapgate_shadow_deviation_ratio', 'swapgate_mirror_deviation_ratio'],
  ['swapgate_shadow_missing_assets', 'swapgate_mirror_missing_assets'],
] as const

const metrics = createMetrics({
  ...nothingToRead,
  isCounting: true,
  providers: () => [{ tag: 'beta', form: 'B', state: 'active', rateLimit: { quotes: 60, create: 0, read: 120 } }],
  formOf: () => 'B',
  readLedgerGauges: async () => ({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] }),
  version: '1',
  commit: 'abc123',
  schema: 2,
  droppedLines: () => 0,
  readRequestCounts: () => undefined,
})
metrics.observe({ what: 'budget', provider: 'beta', policy: 'quotes', remaining: 12 })
metrics.observe({ what: 'mirror', provider: 'beta', result: 'compared', deviation: -0.02 })
metrics.observe({ what: 'mirrorAssets', provider: 'beta', missing: 3 })
metrics.observe({
  what: 'call',
  operation: 'getRate',
  method: 'GET',
  provider: 'beta',
  server: { address: '192.0.2.1', port: 443 },
  outcome: 'done',
  status: 200,
  seconds: 0.1,
} as never)
for (const isMade of [true, true, true, false]) metrics.observe({ what: 'retry', provider: 'beta', isMade })

it.each(['text/plain', 'application/openmetrics-text'])(
  'both have the same values, and the earlier one says so (%s)',
  async (accept) => {
    const { text } = await metrics.print(accept)
    const seriesOf = (name: string): readonly string[] =>
      text.split('\n').flatMap((line) => (line.startsWith(name) && /[^#]* [^0]/.test(line) ? [line.slice(name.length)] : []))
    for (const [earlier, name] of renamed) {
      expect(seriesOf(name).length, name).toBeGreaterThan(0)
      expect(seriesOf(earlier), name).toEqual(seriesOf(name))
      expect(text).toMatch(new RegExp(`^# HELP ${earlier}(?:_total)? Deprecated: is now called ${name}`, 'm'))
    }
  },
)

it('suppressed retries are those that were not made', async () => {
  const { text } = await metrics.print('text/plain')
  expect(text.split('\n').filter((line) => line.startsWith('swapgate_provider_retries'))).toEqual([
    'swapgate_provider_retries_total{provider="beta",made="true"} 3',
    'swapgate_provider_retries_total{provider="beta",made="false"} 1',
    'swapgate_provider_retries_suppressed_total{provider="beta"} 1',
  ])
})
