/** `swapgate providers status`: prints the current status of every provider (docs/contract.md §12). */
import type { ProviderStatus, StatusReport } from '../../core/operations/provider-status.ts'
import { currentStatus } from '../../process/in-force.ts'
import type { Options } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { formatTable } from '../table.ts'
import { formatPercent } from './percent.ts'

export async function printStatus({ json = false }: Options, { config, stores, terminal }: Session): Promise<ExitCode> {
  const report = await currentStatus(config, stores)
  if (json) terminal.out(JSON.stringify(report))
  else for (const line of statusLines(report)) terminal.out(line)
  return 0
}

function statusLines({ strategy, shadow, overrides, replicas, oldestSeconds, providers }: StatusReport): readonly string[] {
  const running =
    replicas === 0 ? 'no gateway is running' : `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, oldest ${oldestSeconds} s`
  return [
    `Strategy ${strategy}; ${running}.`,
    ...formatTable([
      [
        'provider',
        'state',
        'weight',
        'share',
        'p95',
        'failed',
        'breaker',
        'budget left',
        'refused, counted',
        'off its quotes',
        'open',
        'unknown creates',
      ],
      ...providers.map(rowOf),
    ]),
    ...providers.flatMap(({ name, suspended }) =>
      suspended.map(({ kind, asset, network, since, until }) => {
        const where = network === null ? asset : `${asset} (network ${network})`
        return `Suspended at ${name}: ${where}, since ${since}, until ${until}: three mismatches in a row of ${kind}.`
      }),
    ),
    ...(shadow ? [`Shadow: ${shadow.provider} also gets ${shadow.sample * 100} % of the quotes.`] : []),
    ...overrides.map(({ key, value, actor, since, isAsleep }) => {
      const effect = isAsleep ? ' It has no effect with this file.' : ''
      return `Override: ${key} is ${textOf(value)} since ${since}, by ${actor}.${effect}`
    }),
  ]
}

function rowOf({ name, form, state, isRouted, weight, live, openTransactions, pendingCreates, unknownCreates }: ProviderStatus) {
  const left = Object.entries(live?.budgetLeft ?? {}).map(([policy, calls]) => `${policy} ${calls ?? 'unbounded'}`)
  const breakers = Object.entries(live?.breaker ?? {}).map(([operation, breaker]) => `${operation} ${breaker}`)
  return [
    form === null ? `${name} (not in the file)` : isRouted ? name : `${name} (not routed)`,
    state,
    weight === null ? '-' : String(weight),
    live ? formatPercent(live.share).replace('+', '') : '-',
    live?.latencyMs.p95 == null ? '-' : `${live.latencyMs.p95} ms`,
    live ? `${live.failedCalls} of ${live.calls}` : '-',
    live ? breakers.join(', ') || 'closed' : '-',
    left.join(', ') || '-',
    live ? `${live.judgements.refused}, ${live.judgements.counted}` : '-',
    formatPercent(live?.quoteDeviation ?? null),
    String(openTransactions + pendingCreates),
    String(unknownCreates),
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
