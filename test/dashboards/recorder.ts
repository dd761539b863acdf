/** Records what gateways print at `/metrics`, as series for `promtool test rules`. */
import { rules } from './rule.ts'

interface Target {
  readonly url: string
  /** The label of that name. */
  readonly job: string
  /** What stands for the printed labels; undefined drops the series. */
  readonly relabel: (labels: string) => string | undefined
}

interface Series {
  /** One for each tick; undefined where the target did not print it. */
  readonly values: (number | undefined)[]
}

export class Recorder {
  tick = -1
  /** As so many seconds a tick counts, however long it takes: with 15 s and a tick each second ten minutes are recorded in 40 s. */
  readonly secondsPerTick: number
  private readonly targets = new Map<string, Target>()
  private readonly series = new Map<string, Series>()
  private readonly startedAt = Date.now()

  constructor(secondsPerTick: number) {
    this.secondsPerTick = secondsPerTick
  }

  /** `instance` is the label of that name; `url` of the port that has `/metrics`. */
  add(instance: string, url: string, { job = 'swapgate', relabel = (labels) => labels }: Partial<Omit<Target, 'url'>> = {}): void {
    this.targets.set(instance, { url, job, relabel })
  }

  /** It is no target any more, as a pod that is gone. */
  remove(instance: string): void {
    this.targets.delete(instance)
  }

  /** Scrapes every target once. */
  async next(): Promise<void> {
    const tick = ++this.tick
    await Promise.all([...this.targets].map(([instance, target]) => this.scrape(tick, instance, target)))
  }

  private async scrape(tick: number, instance: string, { url, job, relabel }: Target): Promise<void> {
    const labels = `job="${job}", instance="${instance}"`
    const at = Date.now()
    const text = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(900) }).then(
      (response) => response.text(),
      () => undefined,
    )
    this.put(tick, `up{${labels}}`, text === undefined ? 0 : 1)
    for (const line of text?.split('\n') ?? []) {
      const [, name, printed = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const own = relabel(printed)
      if (name === undefined || own === undefined) continue
      const all = own === '' ? labels : `${labels}, ${own.replaceAll('",', '", ')}`
      this.put(tick, `${name}{${all}}`, this.sinceStart(name, Number(value), tick, at))
    }
  }

  /** promtool counts from 1970: instants are told from the start of the recording. */
  private sinceStart(name: string, value: number, tick: number, at: number): number {
    if (name === 'swapgate_time_seconds') return tick * this.secondsPerTick + value - at / 1000
    return instants.has(name) ? value - Math.round(this.startedAt / 1000) : value
  }

  private put(tick: number, name: string, value: number): void {
    this.series.getOrInsertComputed(name, () => ({ values: [] })).values[tick] = value
  }

  /** Of the metrics that these alerts use, from one tick up to another one, of these instances. */
  inputSeries(alerts: readonly string[], from: number, to: number, instances?: readonly string[]): readonly string[] {
    const used = metricsOf(alerts)
    return [...this.series].flatMap(([name, { values }]) => {
      const [metric = ''] = /^\w+/.exec(name) ?? []
      const [, instance = ''] = /instance="([^"]*)"/.exec(name) ?? []
      const rebased = instants.has(metric) ? from * this.secondsPerTick : 0
      const part = Array.from({ length: to - from }, (_, at) => values[from + at]).map((value) => value && value - rebased)
      const isUsed = (metric === 'up' || used.has(metric)) && isBucketOfRules(name) && (instances?.includes(instance) ?? true)
      return isUsed && part.some((value) => value !== undefined) ? [`{ series: '${name}', values: '${notation(part)}' }`] : []
    })
  }
}

/** The time, and when a certificate ends. */
const instants = new Set([
  'swapgate_time_seconds',
  'swapgate_certificate_not_after_timestamp_seconds',
  'swapgate_reconciliation_last_search_timestamp_seconds',
])

/** Those in the expressions of alerts, and in the recording rules that these use. */
function metricsOf(alerts: readonly string[]): ReadonlySet<string> {
  const all = rules()
  const found = new Set<string>()
  const visit = (expression: string): void => {
    for (const name of expression.match(/\bjob:\w+:\w+/g) ?? []) visit(all.find(({ record }) => record === name)?.expr ?? '')
    for (const name of expression.match(/\b(?:swapgate|http|db|nodejs|process|node|haproxy)_\w+/g) ?? []) found.add(name)
  }
  for (const { alert, expr } of all) if (alert !== undefined && alerts.includes(alert)) visit(expr)
  return found
}

/** Of the two histograms of requests the rules use one bound each. */
function isBucketOfRules(name: string): boolean {
  if (name.startsWith('swapgate_added_seconds_bucket')) return name.includes('le="0.025"')
  if (name.startsWith('http_server_request_duration_seconds_bucket')) return name.includes('le="2.5"')
  return true
}

/** As promtool reads it: equal values as one, and `stale` where a series ends. */
function notation(values: readonly (number | undefined)[]): string {
  const words: string[] = []
  for (let at = 0; at < values.length; ) {
    const value = values[at]
    let end = at + 1
    while (end < values.length && values[end] === value) end++
    const count = end - at
    if (value !== undefined) words.push(count === 1 ? `${value}` : `${value}x${count - 1}`)
    else {
      if (at > 0) words.push('stale')
      const blanks = at > 0 ? count - 1 : count
      if (blanks > 0) words.push(`_x${blanks}`)
    }
    at = end
  }
  return words.join(' ')
}
