/** The metrics of what a fuzzed gateway observes: foreign bytes must not make new series. */

import { createMetrics } from '../../src/adapters/metrics/index.ts'
import type { StartedGateway } from '../support/gateway.ts'
import { nothingToRead } from '../support/metrics-options.ts'

export interface Series {
  /** Counts what was observed since the last call, and forgets it. */
  readonly count: () => void
  readonly number: () => Promise<number>
}

export function seriesOf({ config, observations }: StartedGateway): Series {
  const metrics = createMetrics({
    ...nothingToRead,
    isCounting: true,
    providers: () => config.providers,
    formOf: (tag) => config.providers.find((provider) => provider.tag === tag)?.form ?? 'none',
    readLedgerGauges: async () => ({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] }),
    version: '1.2.3',
    commit: 'abc123',
    schema: 2,
    droppedLines: () => 0,
    readRequestCounts: () => undefined,
  })
  return {
    count() {
      for (const observation of observations) metrics.observe(observation)
      ;(observations as unknown[]).length = 0
    },
    number: async () => (await metrics.print('')).text.split('\n').filter((line) => !line.startsWith('#')).length,
  }
}
