/** What is counted and logged of this process. */
import { type Log, openLog } from '../adapters/log.ts'
import { createMetrics, type Metrics } from '../adapters/metrics.ts'
import type { Config } from '../config.ts'
import type { Bookkeeping } from '../core/bookkeeping.ts'
import type { Observer } from '../domain/observation.ts'
import { version } from './version.ts'

export interface Telemetry {
  readonly observe: Observer
  readonly print: Metrics['print']
  readonly log: Log
  /** From now on metrics tell what the ledger holds. */
  readonly watch: (bookkeeping: Pick<Bookkeeping, 'figures'>) => void
}

/** `current`: the configuration by which requests are answered now. */
export function openTelemetry({ log: settings, telemetry }: Config, current: () => Config): Telemetry {
  const formOf = formFinder(current)
  const log = openLog(settings, formOf)
  const opened = Promise.withResolvers<Pick<Bookkeeping, 'figures'>>()
  const metrics = createMetrics({
    isCounting: telemetry.metrics,
    providers: () => current().providers,
    formOf,
    figures: async () => (await opened.promise).figures(),
    version,
    droppedLines: log.dropped,
  })
  return {
    observe(observation) {
      metrics.observe(observation)
      log.observe(observation)
    },
    print: metrics.print,
    log,
    watch: opened.resolve,
  }
}

/** The form of a provider, by tag, also of one that is not configured any more; `none` where no provider answered. */
function formFinder(current: () => Config): (tag: string | undefined) => string {
  const known = new Map<string, string>()
  return (tag) => {
    if (tag === undefined) return 'none'
    const before = known.get(tag)
    if (before !== undefined) return before
    const form = current().providers.find((provider) => provider.tag === tag)?.form ?? 'none'
    known.set(tag, form)
    return form
  }
}
