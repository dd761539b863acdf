/**
 * Mixed clean traffic at three gateways under a Prometheus with the rules as they are: `npm run test:alerts [minutes]`, an hour unless
 * given. Prints what fired; ends with 1 if that was anything but the dead man's switch, or if a rule or a scrape failed.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import buildBundle from '../support/bundle.ts'
import { Prometheus } from './prometheus.ts'
import { ruleFiles } from './rule.ts'
import { Traffic } from './traffic.ts'
import { World } from './world.ts'

const minutes = Number(process.argv[2] ?? 60)
const reportMs = 300_000

const removeBundle = await buildBundle()
const complaints: string[] = []
{
  await using world = await World.start(process.pid)
  await using _traffic = new Traffic(world)
  const targets = world.sites.map(({ gateway }) => new URL(gateway.adminUrl).host)
  const rules = ruleFiles.map((file) => readFileSync(file, 'utf8'))
  await using prometheus = await Prometheus.start(targets, rules, { interval: '15s' })
  const ends = performance.now() + minutes * 60_000
  while (performance.now() < ends) {
    await delay(Math.min(reportMs, ends - performance.now()))
    const seconds = Math.round(minutes * 60 - (ends - performance.now()) / 1000)
    const [requests] = await prometheus.query('sum(swapgate_requests_total)')
    const fired = await prometheus.firing(seconds)
    console.info(`${Math.round(seconds / 60)} min: ${requests?.value ?? 0} requests, fired: ${fired.join(' ') || 'none'}`)
  }
  const range = `[${minutes}m]`
  complaints.push(...(await prometheus.firing(minutes * 60)), ...(await prometheus.failingRules()))
  const lost = await prometheus.query(`sum by (instance) (count_over_time(up${range}) - sum_over_time(up${range})) > 0`)
  complaints.push(...lost.map(({ metric, value }) => `${metric.instance} was not scraped ${value} times`))
  const outcomes = await prometheus.query('sum by (operation, error_type) (swapgate_requests_total)')
  console.info(Object.fromEntries(outcomes.map(({ metric, value }) => [`${metric.operation} ${metric.error_type}`, value])))
}
removeBundle?.()
for (const complaint of complaints) console.error(complaint)
process.exitCode = complaints.length > 0 ? 1 : 0
