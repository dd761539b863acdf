/**
 * Records what real gateways print while each fault is there, and in clean traffic, as cases for `promtool test rules`, with the time at
 * which the alert fires: `npm run rules:record` writes `dashboards/rules/tests/recorded/`.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import buildBundle from '../support/bundle.ts'
import { sendRequest } from '../support/client.ts'
import { RedisServer } from '../support/redis.ts'
import { type Event, type Lift, nothing, repeating, together } from './event.ts'
import * as events from './events.ts'
import { type Part, writeCase, writeCleanCase } from './recorded-case.ts'
import { Recorder } from './recorder.ts'
import { alerts } from './rule.ts'
import * as stores from './stores.ts'
import { Traffic } from './traffic.ts'
import { type Site, startSite, World } from './world.ts'

/** Ticks of clean traffic before a fault. */
const before = 20

interface Recorded extends Part {
  readonly alert: string
}

const removeBundle = await buildBundle()
const recorder = new Recorder(15)
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
      events.failingSearch,
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
  await record([stores.readOnlyLedger], 40, ['alpha'])
  const missingFrom = recorder.tick - before
  recorder.remove('gamma')
  await ticks(35)
  recorded.push({ alert: 'SwapgateReplicasMissing', from: missingFrom, to: recorder.tick, instances: ['quiet', 'gamma'] })
  await record([{ ...stores.lostReplica, cause: async () => await stop(world.beta) }], 20, ['beta', 'quiet'])
  await record([{ ...stores.lostGateway, cause: async () => await stop(quiet) }], 15, ['quiet'])

  for (const { alert, ...part } of recorded) await writeCase(alert, recorder, part)
  writeCleanCase(
    alerts().map(({ alert }) => alert),
    recorder,
    clean,
  )
}
removeBundle?.()
process.exit()

async function stop({ gateway }: Site): Promise<Lift> {
  await gateway.kill()
  return nothing
}
