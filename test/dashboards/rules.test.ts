// Takes long: days of samples.
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../src/adapters/metrics/index.ts'
import { nothingToRead } from '../support/metrics-options.ts'
import { prometheusPrograms } from '../support/prometheus-program.ts'
import { alerts, ruleFiles, rules } from './rule.ts'

const execute = promisify(execFile)
/** Its memory is collected less often: what it allocates is most of its work. */
const run = (program: string, args: readonly string[]) => execute(program, args, { env: { ...process.env, GOGC: '400' } })
const caseFiles = globSync('dashboards/rules/tests/*.yaml')
const timeoutMs = 180_000

interface Case {
  readonly name: string
  readonly input_series: readonly { readonly series: string }[]
  readonly promql_expr_test?: readonly { readonly exp_samples: readonly { readonly labels: string }[] }[]
}

const cases = caseFiles.flatMap((file) => (parse(readFileSync(file, 'utf8')) as { tests: readonly Case[] }).tests)
const firing = ({ promql_expr_test: [expected] = [] }: Case): readonly string[] =>
  (expected?.exp_samples ?? []).map(({ labels }) => /"(.*)"/.exec(labels)?.[1] ?? '')

it('are rules for Prometheus', { timeout: timeoutMs }, async () => {
  const { promtool } = await prometheusPrograms()
  const { stdout } = await run(promtool, ['check', 'rules', ...ruleFiles])
  expect(stdout.match(/SUCCESS/g)).toHaveLength(2)
})

it.each(caseFiles)('fire and do not fire as in its cases: %s', { timeout: timeoutMs }, async (file) => {
  const { promtool } = await prometheusPrograms()
  expect((await run(promtool, ['test', 'rules', file])).stdout).toContain('SUCCESS')
})

const recordedFiles = globSync('dashboards/rules/tests/recorded/*.yaml')
it.each(recordedFiles)(
  'fire when they did, and never in clean traffic, in the series of real gateways: %s',
  { timeout: timeoutMs },
  async (file) => {
    const { promtool } = await prometheusPrograms()
    expect((await run(promtool, ['test', 'rules', file])).stdout).toContain('SUCCESS')
  },
)

it('have a recording each, but the one that always fires', () => {
  const recorded = recordedFiles.map((file) => file.replace(/^.*\/|\.yaml$/g, ''))
  const expected = alerts().map(({ alert }) => alert)
  expect([...recorded, 'SwapgateDeadMansSwitch'].toSorted()).toEqual([...expected, 'clean'].toSorted())
})

describe.each(alerts())('$alert', ({ alert, labels, annotations }) => {
  it('has a case in which it fires, and one in which it does not', () => {
    const named = (how: string): readonly Case[] => cases.filter(({ name }) => name.startsWith(`${alert} ${how}: `))
    expect(named('fires').length).toBeGreaterThan(0)
    expect(named('is quiet').length > 0).toBe(labels?.severity !== 'heartbeat') // which is never quiet
    for (const fires of named('fires')) expect(firing(fires)).toContain(alert)
    for (const quiet of named('is quiet')) expect(firing(quiet)).not.toContain(alert)
  })

  it('has a severity, a summary, a description and a runbook', () => {
    expect(labels?.severity).toMatch(/^(?:page|ticket|heartbeat)$/)
    expect(annotations?.summary).toBeTruthy()
    expect(annotations?.description).toBeTruthy()
    expect(annotations?.runbook_url).toBe(`{{ $externalURL }}/user/${alert}.md`)
  })

  it('has a runbook, and a line in the table of docs/alerts.md', () => {
    expect(existsSync(`docs/runbooks/${alert}.md`)).toBe(true)
    expect(readFileSync('docs/alerts.md', 'utf8')).toContain(`[${alert}](runbooks/${alert}.md) | ${labels?.severity} |`)
  })
})

/** Of other programs: Prometheus itself, the exporter for certificates, HAProxy, Kubernetes. */
const foreign =
  /^(?:up|ALERTS|probe_ssl_earliest_cert_expiry|node_filesystem_\w+|kubelet_volume_stats_\w+|haproxy_backend_active_servers|haproxy_(?:server|frontend)_(?:current|limit)_sessions|kube_deployment_\w+)$/

it('use, in rules and cases, only metrics and labels that the gateway has', async () => {
  const metrics = createMetrics({
    ...nothingToRead,
    isCounting: true,
    providers: () => [],
    formOf: () => 'none',
    readLedgerGauges: async () => ({ unfinished: [], unresolvedCounts: [], attentionCounts: [], watchedCounts: [] }),
    readRequestCounts: () => undefined,
    commit: 'abc123',
    schema: 2,
    version: '1',
    droppedLines: () => 0,
  })
  const { text } = await metrics.print('')
  const printed = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
  const isPrinted = (name: string): boolean => printed.has(name) || printed.has(name.replace(/_(?:bucket|count|sum)$/, ''))
  const recorded = recordedFiles.flatMap((file) => (parse(readFileSync(file, 'utf8')) as { tests: readonly Case[] }).tests)
  const series = [...cases, ...recorded].flatMap(({ input_series: inputs }) =>
    inputs.map((input) => /^\w+/.exec(input.series)?.[0] ?? ''),
  )
  const used = rules().flatMap(
    ({ expr }) => expr.match(/\b(?:swapgate|http|db|nodejs|process|up|probe|haproxy|kube)(?:_\w+)?(?=[{[ )]|$)/gm) ?? [],
  )
  expect(used.length).toBeGreaterThan(100)
  const unknown = [...series, ...used].filter((name) => !isPrinted(name) && !foreign.test(name) && !/^swapgate_\w+:/.test(name))
  expect([...new Set(unknown)]).toEqual([])
})

it('have an alert for each runbook', () => {
  const pages = globSync('docs/runbooks/*.md')
  expect(pages.map((page) => page.replace(/^.*\/|\.md$/g, '')).toSorted()).toEqual(
    alerts()
      .map(({ alert }) => alert)
      .toSorted(),
  )
})
