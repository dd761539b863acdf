/** Recorded series as cases for `promtool test rules`, in `dashboards/rules/tests/recorded/`. */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { prometheusPrograms } from '../support/prometheus-program.ts'
import type { Recorder } from './recorder.ts'
import { readRules } from './rule.ts'

/** Of a recording: ticks, and the instances to take; all unless given. */
export interface Part {
  readonly from: number
  readonly to: number
  readonly instances?: readonly string[]
  /** The tick with which the fault began, where that was not with the first. */
  readonly faultAt?: number
}

const folder = 'dashboards/rules/tests/recorded'
mkdirSync(folder, { recursive: true })

/** Writes a case of this alert alone, in which it fires when it does now. Complains of one that does not, or that fires before its fault. */
export async function writeCase(alert: string, recorder: Recorder, { from, to, instances, faultAt = from }: Part): Promise<void> {
  const { secondsPerTick } = recorder
  const series = recorder.inputSeries([alert], from, to, instances)
  const end = (to - from) * secondsPerTick
  const first = await firstFiring(alert, series, { secondsPerTick, end })
  if (first === undefined) return console.error(`${alert} does not fire in ${end} s of ${series.length} series`)
  const faultySeconds = first - (faultAt - from) * secondsPerTick
  if (faultySeconds <= 0) return console.error(`${alert} fires ${-faultySeconds} s before its fault`)
  const checks = [count(alert, first - secondsPerTick, 0), count(alert, first, 1)]
  writeFileSync(`${folder}/${alert}.yaml`, caseFile(series, secondsPerTick, checks))
  console.info(
    `${alert} fires ${faultySeconds} s after ${faultAt === from ? 'the start' : 'its fault'}, with ${series.length} series`,
  )
}

/** Writes a case of all these alerts, in which none fires. */
export function writeCleanCase(alerts: readonly string[], recorder: Recorder, { from, to, instances }: Part): void {
  const end = (to - from) * recorder.secondsPerTick
  const firing = 'ALERTS{alertstate="firing", alertname!="SwapgateDeadMansSwitch"}'
  const checks = [`      - { expr: 'count_over_time(${firing}[${end}s])', eval_time: ${end}s, exp_samples: [] }`]
  const series = recorder.inputSeries(alerts, from, to, instances)
  writeFileSync(`${folder}/clean.yaml`, caseFile(series, recorder.secondsPerTick, checks))
}

async function firstFiring(
  alert: string,
  series: readonly string[],
  { secondsPerTick, end }: { secondsPerTick: number; end: number },
): Promise<number | undefined> {
  const { promtool } = await prometheusPrograms()
  const file = `${folder}/${alert}.probe.yaml`
  const expression = `min(min_over_time(timestamp(ALERTS{alertname="${alert}", alertstate="firing"})[${end}s:${secondsPerTick}s]))`
  const checks = [`      - { expr: '${expression}', eval_time: ${end}s, exp_samples: [] }`]
  writeFileSync(file, caseFile(series, secondsPerTick, checks))
  const output = await new Promise<string>((resolve) => {
    execFile(promtool, ['test', 'rules', file], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  rmSync(file)
  const [, found] = /got: \{\} (\S+)/.exec(output) ?? []
  if (found === undefined && !output.includes('SUCCESS')) console.error(output.slice(0, 2_000))
  return found === undefined ? undefined : Number(found)
}

function count(alert: string, seconds: number, firing: 0 | 1): string {
  const expression = `count by (alertname) (ALERTS{alertname="${alert}", alertstate="firing"})`
  const samples = firing ? `[{ labels: '{alertname="${alert}"}', value: 1 }]` : '[]'
  const value = `min by (alertname) (${expression} > bool 0)`
  return `      - { expr: '${value}', eval_time: ${seconds}s, exp_samples: ${samples} }`
}

const groupNames = ['slis', 'alerts'].flatMap((name) =>
  readRules(`dashboards/rules/${name}.yaml`).groups.map((group) => group.name),
)

function caseFile(series: readonly string[], secondsPerTick: number, checks: readonly string[]): string {
  return [
    `# Recorded from real programs by npm run rules:record: a scrape counts as ${secondsPerTick} seconds.`,
    'rule_files: [../../slis.yaml, ../../alerts.yaml]',
    `evaluation_interval: ${secondsPerTick}s`,
    // Else promtool takes the groups in another order each time.
    `group_eval_order: [${groupNames.join(', ')}]`,
    'tests:',
    `  - interval: ${secondsPerTick}s`,
    '    input_series:',
    ...series.map((each) => `      - ${each}`),
    '    promql_expr_test:',
    ...checks,
    '',
  ].join('\n')
}
