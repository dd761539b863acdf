// Takes long: days of samples.
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { prometheusPrograms } from '../support/prometheus-program.ts'
import { alerts, ruleFiles } from './rule.ts'

const execute = promisify(execFile)
/** Its memory is collected less often: what it allocates is most of its work. */
const run = (program: string, args: readonly string[]) => execute(program, args, { env: { ...process.env, GOGC: '400' } })
const caseFiles = globSync('dashboards/rules/tests/*.yaml')
const timeoutMs = 180_000

interface Case {
  readonly name: string
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

it('have an alert for each runbook', () => {
  const pages = globSync('docs/runbooks/*.md')
  expect(pages.map((page) => page.replace(/^.*\/|\.md$/g, '')).toSorted()).toEqual(
    alerts()
      .map(({ alert }) => alert)
      .toSorted(),
  )
})
