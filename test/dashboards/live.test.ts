// Takes longest: it waits for alerts.
/**
 * Prometheus scrapes real gateways each second during real faults. Every query of every panel must have data, and every alert
 * must fire with its fault, and not before. Windows and waiting times are a sixtieth of the real ones.
 */
import { globSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boards } from './board.ts'
import type { Event } from './event.ts'
import * as events from './events.ts'
import { Prometheus } from './prometheus.ts'
import { emptyPanels, filledIn } from './query.ts'
import { alerts, ruleFiles, rules } from './rule.ts'
import { scaled } from './scaling.ts'
import * as stores from './stores.ts'
import { Traffic } from './traffic.ts'
import { World } from './world.ts'

/** Those of one stage happen at the same time. */
const stages: readonly (readonly Event[])[] = [
  [events.lostProvider, events.refusedKey], // first: availability burns with much of what follows, and gamma rests after it
  [stores.lockedLedger], // leaves creates of unknown outcome for some seconds
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
  [events.slowProvider, events.usedUpBudget, events.greed],
  [stores.readOnlyLedger],
  [events.belowQuote],
  [stores.lostRedis, stores.lostTables],
]
/** After these there is nothing left to query. */
const ends: readonly (readonly Event[])[] = [[stores.lostReplica], [stores.lostGateway]]
const all = [...stages, ...ends].flat()
const timeoutMs = 90_000

/** No provider here has TLS, no exporter is beside PostgreSQL, and no client has a stream or a webhook. */
const withoutFigures = [
  'Providers: Days until the certificate ends',
  'Transactions: Free on the disk of PostgreSQL',
  'Transactions: Watched swaps',
  'Transactions: Watched swaps: since the last read',
]

describe('dashboards and alerts of real gateways', () => {
  const open = new AsyncDisposableStack()
  let world: World
  let prometheus: Prometheus

  beforeAll(async () => {
    world = open.use(await World.start())
    open.use(new Traffic(world))
    await delay(3_000) // what is slow at the first time is behind them
    const targets = world.sites.map(({ gateway }) => new URL(gateway.adminUrl).host)
    prometheus = open.use(
      await Prometheus.start(
        targets,
        ruleFiles.map((file) => scaled(file)),
      ),
    )
  }, timeoutMs)
  afterAll(() => open.disposeAsync(), timeoutMs)

  const occurs = async (stage: readonly Event[]): Promise<void> => {
    const expected = stage.flatMap((event) => event.alerts ?? [])
    const before = await prometheus.firing()
    expect(expected.filter((alert) => before.includes(alert))).toEqual([])
    const lifts = await Promise.all(stage.map((event) => event.cause(world)))
    try {
      const missing = new Set(expected)
      const stillMissing = async (): Promise<readonly string[]> => {
        for (const alert of await prometheus.firing()) missing.delete(alert)
        return [...missing]
      }
      await expect.poll(stillMissing, { timeout: timeoutMs, interval: 500 }).toEqual([])
      const shown = stage.flatMap(({ panels = [] }) => panels)
      const empty = (): Promise<readonly string[]> => emptyPanels(prometheus, boards(), shown)
      await expect.poll(empty, { timeout: 20_000, interval: 500 }).toEqual([])
    } finally {
      await Promise.all(lifts.map((lift) => lift()))
    }
  }

  it('while all is well no alert fires, and only panels of faults are empty', { timeout: timeoutMs }, async () => {
    await expect.poll(() => prometheus.query('sum_over_time(up[3s]) > 2'), { timeout: 30_000 }).toHaveLength(world.sites.length)
    await expect.poll(() => prometheus.firing()).toEqual([])
    await delay(15_000)
    expect(await prometheus.firing(15)).toEqual([])
    // A create in flight while the ledger is read is unresolved for that moment.
    const empty = async (): Promise<readonly string[]> => (await emptyPanels(prometheus, boards())).toSorted()
    await expect
      .poll(empty, { timeout: 30_000, interval: 1_000 })
      .toEqual([...withoutFigures, ...all.flatMap(({ panels = [] }) => panels)].toSorted())
  })

  it('every list to choose from has something', async () => {
    const lists = boards().flatMap(({ templating }) =>
      templating.list.flatMap(({ query }) => (isQuery(query) ? [query.query] : [])),
    )
    expect(lists.length).toBeGreaterThan(4)
    for (const list of lists) {
      const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(list) ?? []
      const values = await prometheus.query(`count by (${label}) (${filledIn(series)})`)
      expect(values.map(({ metric }) => metric[label]).filter(Boolean), list).not.toEqual([])
    }
  })

  describe.each(stages.map((stage) => ({ stage, name: stage.map(({ name }) => name).join('; ') })))('$name', ({ stage }) => {
    it('is seen', { timeout: 2 * timeoutMs }, () => occurs(stage))
  })

  it('after all of that no panel is empty', async () => {
    // A scrape that was too slow leaves out what a panel has of that second.
    const empty = async (): Promise<readonly string[]> => (await emptyPanels(prometheus, boards())).toSorted()
    await expect.poll(empty, { timeout: 20_000, interval: 1_000 }).toEqual(withoutFigures)
  })

  it('and every rule could be evaluated, and has a result', async () => {
    expect(await prometheus.failingRules()).toEqual([])
    for (const { record } of rules()) if (record !== undefined) expect(await prometheus.query(record), record).not.toEqual([])
  })

  it('and every query of a runbook is one that Prometheus takes, about metrics that there are', async () => {
    const pages = globSync('docs/runbooks/*.md').map((page) => readFileSync(page, 'utf8'))
    const queries = pages.flatMap((page) => [...page.matchAll(/```promql\n([^`]+)```/g)].map(([, query]) => query ?? ''))
    expect(queries.length).toBeGreaterThan(20)
    for (const query of queries) await expect(prometheus.query(query), query).resolves.toBeDefined()
    const metrics = new Set(queries.flatMap((query) => query.match(/\b(?:swapgate|http|nodejs|process)_\w+(?=[[{) ]|$)/gm) ?? []))
    expect(metrics.size).toBeGreaterThan(10)
    metrics.delete('swapgate_certificate_not_after_timestamp_seconds') // no provider here has TLS
    metrics.delete('swapgate_watched_transactions_oldest_read_seconds') // nobody listens here
    for (const metric of metrics) expect(await prometheus.query(`count(${metric})`), metric).not.toEqual([])
  })

  it.each(ends)('$name, and it is seen', { timeout: 2 * timeoutMs }, (event) => occurs([event]))
})

/** Variables of other sorts have a text, or nothing. */
function isQuery(query: unknown): query is { readonly query: string } {
  return typeof query === 'object' && query !== null
}

/** One that has no fault, those of `delivery.test.ts`, and those that take hours, a disk, another clock, a proxy or TLS: `dashboards/rules/tests/`. */
const notHere = [
  'SwapgateDeadMansSwitch',
  'SwapgateAvailabilityBurnSlow',
  'SwapgateAddedLatencyBurnSlow',
  'SwapgateTransactionOpenLong',
  'SwapgateCurrencyListNotWhole',
  'SwapgateCertificateExpires',
  'SwapgateRedisLost',
  'SwapgateLedgerDiskFull',
  'SwapgateLedgerServerDiskFull',
  'SwapgateReplicasMissing',
  'SwapgateCrashLoop',
  'SwapgateBalancerDown',
  'SwapgateTrafficGone',
  'SwapgateClockOffset',
  'SwapgateSaturated',
  'SwapgateTelemetryLost',
  'SwapgateWatchedTransactionsUnread',
  'SwapgateWebhookFailed',
]

it('each alert has its fault here', () => {
  expect([...all.flatMap((event) => event.alerts ?? []), ...notHere].toSorted()).toEqual(
    alerts()
      .map(({ alert }) => alert)
      .toSorted(),
  )
})
