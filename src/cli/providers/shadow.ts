/** `swapgate providers shadow` without a setting: prints the results of the shadow so far (docs/contract.md §12). */
import { type ShadowFigures, shadowFigures } from '../../core/operations/provider-status.ts'
import type { Options } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { formatTable } from '../table.ts'
import { formatPercent } from './percent.ts'

export async function printShadow({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const replicas = await stores.replicaFigures.read()
  const counts = replicas.flatMap(({ shadow }) => shadow ?? [])
  const reports = [...new Set(counts.map(({ provider }) => provider))].flatMap((provider) => shadowFigures(provider, counts) ?? [])
  if (json) terminal.out(JSON.stringify({ replicas: replicas.length, shadows: reports }))
  else if (reports.length === 0) terminal.out('No running gateway has a shadow.')
  else for (const line of reports.flatMap(shadowLines)) terminal.out(line)
  return 0
}

function shadowLines({ provider, errors, missingPairs, missingAssets, pairs, ...all }: ShadowFigures): readonly string[] {
  const rows = [{ from: 'all', to: 'pairs', ...all }, ...pairs].map(({ from, to, samples, medianDeviation, p95Deviation }) => [
    `${from} to ${to}`,
    String(samples),
    formatPercent(medianDeviation),
    formatPercent(p95Deviation),
  ])
  const missing = missingPairs.map(({ from, to }) => `${from} to ${to}`)
  return [
    ...formatTable([[`at ${provider}`, 'samples', 'median', 'p95'], ...rows]),
    `Failed quotes: ${errors}.`,
    `Quoted pairs that ${provider} does not offer: ${missing.join(', ') || 'none'}.`,
    `Assets of the routed providers that ${provider} does not list: ${missingAssets.join(', ') || 'none'}.`,
  ]
}
