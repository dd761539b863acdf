/** A real Prometheus on loopback that ends with the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stringify } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { prometheusPrograms } from '../support/prometheus-program.ts'

/** Ends the server with its parent, however that ended: the shell's input ends when the test does. */
export const keeper = 'directory=$1; shift; "$@" >"$directory/log" 2>&1 & read -r word; kill -KILL $!; rm -rf "$directory"'

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

interface PrometheusOptions {
  /** Of scrapes and evaluations; a second unless given. */
  readonly interval?: string
  /** As `host:port`; to which alerts are sent. */
  readonly alertmanager?: string
  /** Further options of its command line. */
  readonly flags?: readonly string[]
}

export class Prometheus implements AsyncDisposable {
  readonly url: string
  private readonly shell: ChildProcess

  private constructor(url: string, shell: ChildProcess) {
    this.url = url
    this.shell = shell
  }

  /** Targets as `host:port`, scraped as the job `swapgate`; rules as the text of files. */
  static async start(
    targets: readonly string[],
    rules: readonly string[],
    { interval = '1s', alertmanager, flags = [] }: PrometheusOptions = {},
  ): Promise<Prometheus> {
    const { prometheus } = await prometheusPrograms()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-prometheus-run-'))
    const files = rules.map((text, index) => ({ name: `rules-${index}.yaml`, text }))
    const configuration = {
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: files.map(({ name }) => name),
      scrape_configs: [{ job_name: 'swapgate', static_configs: [{ targets }] }],
      ...(alertmanager !== undefined && {
        alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
      }),
    }
    for (const { name, text } of [...files, { name: 'prometheus.yaml', text: stringify(configuration) }]) {
      writeFileSync(join(directory, name), text)
    }
    const address = `127.0.0.1:${await freePort(12_000, 8_000)}`
    const options = [
      `--config.file=${join(directory, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      ...flags,
    ]
    const shell = spawn('bash', ['-c', keeper, 'keeper', directory, prometheus, ...options], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const server = new Prometheus(`http://${address}`, shell)
    await server.ready()
    return server
  }

  /** Throws where Prometheus does not take the expression. */
  async query(expression: string): Promise<readonly Sample[]> {
    const response = await fetch(`${this.url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query: expression }) })
    const { data, error } = (await response.json()) as QueryResponse
    if (!data) throw new Error(`${error}: ${expression}`)
    return data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }))
  }

  /** Alerts that fire now, or that fired at any time in the last so many seconds, but the one that always does. */
  async firing(seconds?: number): Promise<readonly string[]> {
    const alerts = 'ALERTS{alertstate="firing", alertname!="SwapgateDeadMansSwitch"}'
    const expression = seconds === undefined ? alerts : `count_over_time(${alerts}[${seconds}s])`
    return (await this.query(`count by (alertname) (${expression})`)).map(({ metric }) => metric.alertname ?? '').toSorted()
  }

  /** Rules that it could not evaluate when it last tried, with what went wrong. */
  async failingRules(): Promise<readonly string[]> {
    const { data } = (await (await fetch(`${this.url}/api/v1/rules`)).json()) as RulesResponse
    const rules = data.groups.flatMap((group) => group.rules)
    return rules.filter(({ health }) => health !== 'ok').map(({ name, health, lastError }) => `${name}: ${health} ${lastError}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.shell.exitCode !== null) return
    const ended = once(this.shell, 'close')
    this.shell.stdin?.end('\n')
    await ended
  }

  private async ready(): Promise<void> {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) {
      const isReady = await fetch(`${this.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) return
    }
    throw new Error('Prometheus did not start.')
  }
}

interface QueryResponse {
  readonly error?: string
  readonly data?: { readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[] }
}

interface RulesResponse {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[]
    }[]
  }
}
