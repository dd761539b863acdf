/**
 * Records what real gateways print while each fault is there, and in clean traffic, as cases for `promtool test rules`, with the time at
 * which the alert fires: `npm run rules:record` writes `dashboards/rules/tests/recorded/`.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import buildBundle from '../support/bundle.ts'
import { sendRequest } from '../support/client.ts'
import { prometheusPrograms } from '../support/prometheus-program.ts'
import { RedisServer } from '../support/redis.ts'
import { type Event, type Lift, nothing, repeating, together } from './event.ts'
import * as events from './events.ts'
import { Recorder, secondsPerTick } from './recorder.ts'
import { alerts, readRules } from './rule.ts'
import * as stores from './stores.ts'
import { Traffic } from './traffic.ts'
import { type Site, startSite, World } from './world.ts'

const folder = 'dashboards/rules/tests/recorded'
/** Ticks of clean traffic before a fault. */
const before = 20

interface Recorded {
  readonly alert: string
  readonly from: number
  readonly to: number
  readonly instances?: readonly string[]
}

const removeBundle = await buildBundle()
const { promtool } = await prometheusPrograms()
const recorder = new Recorder()
const recorded: Recorded[] = []
{
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-record-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const world = open.use(await World.start(process.pid))
  open.use(new Traffic(world))
  const watch = (name: string, { gateway }: Site): void => recorder.add(name, gateway.adminUrl)
  for (const name of ['alpha', 'beta', 'gamma'] as const) watch(name, world[name])
  const redis = open.use(await RedisServer.start())
  const collector = createServer((request, response) => request.on('end', () => response.end()).resume()).listen(0, '127.0.0.1')
  open.defer(async () => void collector.close())
  await once(collector, 'listening')
  const later = (work: string): string =>
    `--import=data:text/javascript,${encodeURIComponent(`setTimeout(()=>{${work}},${(before + 10) * 1_000}).unref()`)}`
  const telemetry = { endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`, sampler: 'always_on' }
  const site = async (name: string, facts: Partial<Parameters<typeof startSite>[1]> = {}): Promise<Site> => {
    const started = await startSite(directory, { name, form: 'B', ...facts }, open)
    watch(name, started)
    return started
  }
  const quiet = await site('quiet')
  const stopQuiet = repeating(1_000, () => world.quote(quiet))
  const shared = await site('shared', {
    form: 'A',
    rateLimit: { quotes: 20, create: 0, read: 0 },
    sections: { redis: { url: redis.url } },
  })
  const killed = await site('killed')
  const listing = await site('listing', { sections: { cache: { currencies: 5 } } })
  const traced = await site('traced', { sections: { telemetry } })
  const old = await site('old')
  const seconds = 3
  const offset = `const n=Date.now;Date.now=()=>n()+${seconds * 1_000}`
  await site('ahead', { nodeOptions: later(offset) })
  await site('busy', { nodeOptions: later('setInterval(()=>{const e=performance.now()+400;while(performance.now()<e);},10)') })

  const ticks = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      const next = performance.now() + 1_000
      await recorder.next()
      await delay(Math.max(0, next - performance.now()))
    }
  }
  /** Causes them together, for so long; each alert is recorded from before its fault. */
  const record = async (faults: readonly Event[], length: number, instances?: readonly string[]): Promise<void> => {
    const from = Math.max(0, recorder.tick - before)
    const lifts = await Promise.all(faults.map((fault) => fault.cause(world)))
    await ticks(length)
    for (const alert of faults.flatMap((fault) => fault.alerts ?? []))
      recorded.push({ alert, from, to: recorder.tick, ...(instances && { instances }) })
    await Promise.all(lifts.map((lift) => lift()))
  }
  const fault = (alert: string, cause: Event['cause']): Event => ({ name: alert, alerts: [alert], cause })

  await ticks(before + 60)
  const clean = { from: 5, to: recorder.tick, instances: ['beta', 'gamma', 'quiet', 'traced'] }
  recorded.push({ alert: 'SwapgateClockOffset', from: 0, to: recorder.tick, instances: ['gamma', 'ahead'] })
  recorded.push({ alert: 'SwapgateSaturated', from: 0, to: recorder.tick, instances: ['gamma', 'busy'] })
  const own: readonly Event[] = [
    fault('SwapgateRedisLost', async () => {
      await redis.kill()
      return repeating(300, () => together(10, () => world.quote(shared)))
    }),
    fault('SwapgateCrashLoop', async () => {
      const lift = repeating(1_000, async () => {
        await killed.gateway.kill()
        await killed.gateway.start()
      })
      return lift
    }),
    fault('SwapgateCurrencyListNotWhole', async () => {
      await listing.provider.fault({ operation: 'currencies', before: 500, times: 100_000 })
      return repeating(1_000, () => sendRequest(listing.gateway.url, { path: '/a/api/v2/currencies?size=5' }))
    }),
    fault('SwapgateTelemetryLost', async () => {
      collector.closeAllConnections()
      collector.close()
      return repeating(300, () => world.quote(traced))
    }),
    fault('SwapgateTransactionOpenLong', async () => {
      const created = await old.customers[0].create(old.gateway.url, world.order())
      const { id = '' } = (created?.json ?? {}) as { readonly id?: string }
      await old.provider.change(id.replace('old~', ''), { status: 'exchanging' })
      await old.customers[0].get(old.gateway.url, id)
      using ledger = new DatabaseSync(join(old.directory, 'ledger.db'), { timeout: 5_000 })
      ledger.exec('UPDATE transactions SET sort_key = sort_key + 90000000 * 1000000')
      return nothing
    }),
  ]
  const instancesOf: Readonly<Record<string, readonly string[]>> = {
    SwapgateRedisLost: ['shared'],
    SwapgateCrashLoop: ['killed'],
    SwapgateCurrencyListNotWhole: ['listing'],
    SwapgateTelemetryLost: ['traced'],
    SwapgateTransactionOpenLong: ['old'],
  }
  const ownFrom = recorded.length
  await record([events.lostProvider, events.refusedKey, ...own], 65)
  for (const [at, each] of recorded.entries()) {
    const instances = instancesOf[each.alert]
    if (at >= ownFrom && instances) recorded[at] = { ...each, instances }
  }
  recorder.remove('killed')
  for (const name of ['listing', 'traced', 'old', 'ahead', 'busy', 'shared']) recorder.remove(name)
  await ticks(before)
  await record([events.usedUpBudget], 50)
  await record(
    [
      events.cutOff,
      events.contradiction,
      events.anotherSwap,
      events.strangeStatus,
      events.failedSwap,
      events.refusedList,
      events.guessedTokens,
      events.brokenTable,
      events.deviation,
    ],
    90,
  )
  await record([events.belowQuote], 30)
  await record([stores.lockedLedger], 60, ['gamma'])
  const goneFrom = 0
  await stopQuiet()
  await ticks(65)
  recorded.push({ alert: 'SwapgateTrafficGone', from: goneFrom, to: recorder.tick, instances: ['quiet'] })
  await record([stores.lostRedis], 25)
  await record([stores.lostTables], 40, ['gamma'])
  const missingFrom = recorder.tick - before
  recorder.remove('gamma')
  await ticks(35)
  recorded.push({ alert: 'SwapgateReplicasMissing', from: missingFrom, to: recorder.tick, instances: ['quiet', 'gamma'] })
  await record([{ ...stores.lostReplica, cause: async () => await stop(world.beta) }], 20, ['beta', 'quiet'])
  await record([{ ...stores.lostGateway, cause: async () => await stop(quiet) }], 15, ['quiet'])

  mkdirSync(folder, { recursive: true })
  for (const { alert, from, to, instances } of recorded)
    await write(alert, recorder.inputSeries([alert], from, to, instances), to - from)
  const all = alerts().map(({ alert }) => alert)
  writeFileSync(
    `${folder}/clean.yaml`,
    cleanCases(recorder.inputSeries(all, clean.from, clean.to, clean.instances), clean.to - clean.from),
  )
}
removeBundle?.()
process.exit()

async function stop({ gateway }: Site): Promise<Lift> {
  await gateway.kill()
  return nothing
}

/** A case of this alert alone, in which it fires when it does now. Complains of an alert that does not. */
async function write(alert: string, series: readonly string[], length: number): Promise<void> {
  const end = length * secondsPerTick
  const first = await firstFiring(alert, series, end)
  if (first === undefined) return console.error(`${alert} does not fire in ${end} s of ${series.length} series`)
  const file = `${folder}/${alert}.yaml`
  writeFileSync(file, caseFile(series, [count(alert, first - secondsPerTick, 0), count(alert, first, 1)]))
  console.info(`${alert} fires after ${first} s, with ${series.length} series`)
}

async function firstFiring(alert: string, series: readonly string[], end: number): Promise<number | undefined> {
  const file = `${folder}/${alert}.probe.yaml`
  const expression = `min(min_over_time(timestamp(ALERTS{alertname="${alert}", alertstate="firing"})[${end}s:${secondsPerTick}s]))`
  writeFileSync(file, caseFile(series, [`      - { expr: '${expression}', eval_time: ${end}s, exp_samples: [] }`]))
  const output = await new Promise<string>((resolve) => {
    execFile(promtool, ['test', 'rules', file], { maxBuffer: 1e8 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  rmSync(file)
  const [, found] = /got: \{\} (\S+)/.exec(output) ?? []
  if (found === undefined && !output.includes('SUCCESS')) console.error(output.slice(0, 2_000))
  return found === undefined ? undefined : Number(found)
}

const groupNames = ['slis', 'alerts'].flatMap((name) =>
  readRules(`dashboards/rules/${name}.yaml`).groups.map((group) => group.name),
)

function count(alert: string, seconds: number, firing: 0 | 1): string {
  const expression = `count by (alertname) (ALERTS{alertname="${alert}", alertstate="firing"})`
  const samples = firing ? `[{ labels: '{alertname="${alert}"}', value: 1 }]` : '[]'
  const value = `min by (alertname) (${expression} > bool 0)`
  return `      - { expr: '${value}', eval_time: ${seconds}s, exp_samples: ${samples} }`
}

function cleanCases(series: readonly string[], length: number): string {
  const firing = 'ALERTS{alertstate="firing", alertname!="SwapgateDeadMansSwitch"}'
  const end = length * secondsPerTick
  const checks = [`      - { expr: 'count_over_time(${firing}[${end}s])', eval_time: ${end}s, exp_samples: [] }`]
  return caseFile(series, checks)
}

function caseFile(series: readonly string[], checks: readonly string[]): string {
  return [
    '# Recorded from real gateways by npm run rules:record: a second counts as fifteen.',
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
