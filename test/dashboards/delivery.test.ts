// Runs alone: a gateway that is scraped late counts as down.
// Takes longest: it waits for alerts.
/**
 * Real gateways, Prometheus, Alertmanager and receivers, with the files of `deploy/`: an alert reaches the receiver of its severity,
 * with the labels of its fault and a link to its runbook. Windows and waiting times are a twentieth of the real ones.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { latency } from '../checker/toxics.ts'
import { sendRequest } from '../support/client.ts'
import { RedisServer } from '../support/redis.ts'
import { assets } from '../support/swaps.ts'
import { Alertmanager, type Received } from './alertmanager.ts'
import { type Lift, repeating, together } from './event.ts'
import { Prometheus } from './prometheus.ts'
import { ruleFiles } from './rule.ts'
import { scaled } from './scaling.ts'
import { type Site, startSite } from './world.ts'

const factor = 20
const timeoutMs = 90_000

/** The clock of the process is three seconds ahead from when this file is there. */
function aheadFrom(file: string): string {
  const work = `import{existsSync}from'node:fs';const n=Date.now;setInterval(()=>{if(existsSync(${JSON.stringify(file)}))Date.now=()=>n()+3000},200).unref()`
  return `--import=data:text/javascript,${encodeURIComponent(work)}`
}

describe('alerts of real gateways', () => {
  const open = new AsyncDisposableStack()
  let alertmanager: Alertmanager
  let prometheus: Prometheus
  let redis: RedisServer
  let alpha: Site
  let beta: Site
  let gamma: Site
  let offsetFile: string

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-delivery-'))
    open.defer(async () => rmSync(directory, { recursive: true }))
    redis = open.use(await RedisServer.start())
    const sections = { redis: { url: redis.url } }
    alpha = await startSite(directory, { name: 'alpha', form: 'A', rateLimit: { quotes: 20, create: 0, read: 0 }, sections }, open)
    beta = await startSite(directory, { name: 'beta', form: 'B' }, open)
    offsetFile = join(directory, 'offset')
    gamma = await startSite(directory, { name: 'gamma', form: 'B', nodeOptions: aheadFrom(offsetFile) }, open)
    alertmanager = open.use(await Alertmanager.start(factor))
    const rules = ruleFiles.map((file) => scaled(file, factor))
    const targets = [alpha, beta, gamma].map(({ gateway }) => new URL(gateway.adminUrl).host)
    // A stopped Prometheus is noticed after four times the delay.
    const flags = ['--rules.alert.resend-delay=1s', `--web.user-assets=${process.cwd()}/docs/runbooks`]
    prometheus = open.use(await Prometheus.start(targets, rules, { alertmanager: alertmanager.address, flags }))
  }, timeoutMs)
  afterAll(() => open.disposeAsync(), timeoutMs)

  const order = () => ({
    from: assets.xrp,
    to: assets.usdtEth,
    amount: `1.${Math.floor(Math.random() * 1e9)}`,
    withdrawalAddress: '0xWithdraw',
    rateType: 'float' as const,
  })
  const create = ({ gateway, customers: [acme] }: Site) => acme.create(gateway.url, order())
  const quote = ({ gateway }: Site) =>
    sendRequest(gateway.url, { path: `/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=2.${Math.floor(Math.random() * 1e9)}` })
  const firing = (name: string): readonly Received[] =>
    alertmanager.received.filter(({ status, labels }) => status === 'firing' && labels.alertname === name)
  const arrives = async (name: string, expected: { at: string; labels: object; says: RegExp }): Promise<void> => {
    const found = () =>
      firing(name).find(({ labels }) => Object.entries(expected.labels).every(([label, value]) => labels[label] === value))
    await expect.poll(found, { timeout: 60_000, interval: 200 }).toBeDefined()
    const alert = found() as Received
    expect(alert.at).toBe(expected.at)
    expect(`${alert.annotations.summary} ${alert.annotations.description}`).toMatch(expected.says)
    const page = await fetch(alert.annotations.runbook_url ?? '')
    expect(await page.text()).toContain(`# ${name}\n`)
  }
  const during = async (lift: Lift, check: () => Promise<void>): Promise<void> => {
    try {
      await check()
    } finally {
      await lift()
    }
  }

  it('while all is well only the heartbeat comes, again and again', { timeout: timeoutMs }, async () => {
    // Prometheus takes five seconds until it first scrapes, which is longer than a twentieth of a minute.
    await expect.poll(() => prometheus.query('up == 1')).toHaveLength(3)
    const scrapedAt = Date.now()
    const traffic = repeating(200, () => Promise.all([create(alpha), create(beta), quote(beta)]))
    await during(traffic, async () => {
      await expect.poll(() => firing('SwapgateDeadMansSwitch').length, { timeout: 40_000 }).toBeGreaterThan(3)
    })
    const others = alertmanager.received.filter(({ labels }) => labels.alertname !== 'SwapgateDeadMansSwitch')
    expect(others.filter(({ startsAt }) => Date.parse(startsAt) > scrapedAt)).toEqual([])
    await arrives('SwapgateDeadMansSwitch', { at: 'heartbeat_url', labels: { job: 'swapgate' }, says: /always fires/ })
  })

  it('somebody guesses tokens of operators', { timeout: timeoutMs }, async () => {
    const { adminUrl } = beta.gateway
    const guess = () => sendRequest(adminUrl, { path: '/api/providers', headers: { authorization: 'Bearer guessed' } })
    await during(
      repeating(500, () => together(10, guess)),
      () =>
        arrives('SwapgateOperatorTokensRefused', {
          at: 'ticket_url',
          labels: { instance: new URL(adminUrl).host, severity: 'ticket' },
          says: /token/,
        }),
    )
  })

  it('a provider refuses connections: the cause is in the message', { timeout: timeoutMs }, async () => {
    await alpha.network.down()
    const clients = repeating(100, () => create(alpha))
    const lift = async (): Promise<void> => {
      await clients()
      await alpha.network.up()
    }
    await during(lift, () =>
      arrives('SwapgateBreakerOpen', {
        at: 'ticket_url',
        labels: { provider: 'alpha' },
        says: /unreachable\..*because of: refused\./,
      }),
    )
  })

  it('a provider is slow: that is in the message, and no cause of other failures', { timeout: timeoutMs }, async () => {
    await gamma.network.down()
    await create(gamma)
    await gamma.network.up()
    const mend = gamma.network.add(latency(60_000), 'downstream')
    const clients = repeating(1_000, () => together(3, () => quote(gamma)))
    const lift = async (): Promise<void> => {
      mend()
      await clients()
    }
    await during(lift, () =>
      arrives('SwapgateBreakerOpen', {
        at: 'ticket_url',
        labels: { provider: 'gamma' },
        says: /Most failed calls of the last five minutes: timed_out\.$/,
      }),
    )
  })

  it('the clock of a machine is changed', { timeout: timeoutMs }, async () => {
    writeFileSync(offsetFile, '')
    const instance = new URL(gamma.gateway.adminUrl).host
    await arrives('SwapgateClockOffset', {
      at: 'ticket_url',
      labels: { instance, against: 'prometheus' },
      says: new RegExp(`^The clock of ${instance} is [23](?:\\.\\d+)?s off that of prometheus `),
    })
  })

  it('the ledger loses its table', { timeout: timeoutMs }, async () => {
    using ledger = new DatabaseSync(join(beta.directory, 'ledger.db'), { timeout: 5_000 })
    ledger.exec('ALTER TABLE transactions RENAME TO gone')
    const clients = repeating(200, () => create(beta))
    const lift = async (): Promise<void> => {
      await clients()
      ledger.exec('ALTER TABLE gone RENAME TO transactions')
    }
    await during(lift, () =>
      arrives('SwapgateLedgerFailing', { at: 'page_url', labels: { severity: 'page' }, says: /store_trouble in the log/ }),
    )
  })

  it('Redis dies, and quotes are refused for it: that is told, and not a used-up quota', { timeout: timeoutMs }, async () => {
    await expect.poll(async () => (await quote(alpha)).status, { timeout: 60_000, interval: 500 }).toBe(200)
    await redis.kill()
    const since = alertmanager.received.length
    await during(
      repeating(200, () => together(10, () => quote(alpha))),
      async () => {
        await arrives('SwapgateRedisLost', {
          at: 'page_url',
          labels: { job: 'swapgate' },
          says: /not used up\. Most often because of: refused\./,
        })
        await expect.poll(() => prometheus.firing(), { timeout: 30_000 }).toContain('SwapgateLimitsLocal')
        await delay(3_000)
      },
    )
    // The error budget is used up by it: Alertmanager holds that back too.
    const told = alertmanager.received.slice(since).filter(({ status }) => status === 'firing')
    const names = new Set(told.map(({ labels }) => labels.alertname))
    expect(names).not.toContain('SwapgateUpstreamQuotaUsedUp')
    expect(names).not.toContain('SwapgateLimitsLocal')
    expect(names).not.toContain('SwapgateAvailabilityBurnFast')
    await redis.start()
  })

  it('a process is killed again and again', { timeout: timeoutMs }, async () => {
    const { gateway } = beta
    const killed = repeating(1_500, async () => {
      await gateway.kill()
      await gateway.start()
    })
    await during(killed, () =>
      arrives('SwapgateCrashLoop', {
        at: 'page_url',
        labels: { instance: new URL(gateway.adminUrl).host },
        says: /again and again/,
      }),
    )
  })

  it('Prometheus dies: the heartbeat ends', { timeout: timeoutMs }, async () => {
    await prometheus[Symbol.asyncDispose]()
    const beats = () => firing('SwapgateDeadMansSwitch').length
    await expect
      .poll(
        async () => {
          const before = beats()
          await delay(5_000)
          return beats() - before
        },
        { timeout: 60_000 },
      )
      .toBe(0)
  })
})
