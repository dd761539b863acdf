// Takes long: a gateway is counted by the others eight seconds after its start.
/** What each of several gateways may admit while Redis is lost (docs/limits.md). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Gateways } from '../process/gateways.ts'
import type { InProcessGateway } from '../support/in-process-gateway.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { RedisServer } from '../support/redis.ts'

const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1'
const quotesLimit = 40
const countedAfterMs = 9_000

let redis: RedisServer
let postgres: Postgres
let gateways: Gateways
const running: InProcessGateway[] = []
beforeAll(async () => {
  redis = await RedisServer.start()
  postgres = await startPostgres()
  const ledger = { url: await postgres.createLedger() }
  const limits = { quotes: quotesLimit, window: 600 }
  gateways = await Gateways.prepare({ redis: { url: redis.url }, replicas: 6, ledger, limits })
  for (let number = 0; number < 2; number++) running.push(await gateways.startInProcess())
}, 60_000)
afterAll(async () => {
  await gateways?.[Symbol.asyncDispose]()
  await postgres?.close()
  await redis?.[Symbol.asyncDispose]()
})

async function metric({ adminUrl }: InProcessGateway, line: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((row) => row.startsWith(`${line} `))
      ?.slice(line.length + 1),
  )
}

async function admitted({ url }: InProcessGateway, requests: number): Promise<number> {
  const responses = await Promise.all(Array.from({ length: requests }, () => fetch(url + quote)))
  return responses.filter(({ status }) => status === 200).length
}

it('two of six possible gateways admit a half each, and count what only the share refuses', { timeout: 40_000 }, async () => {
  await pause(countedAfterMs)
  await redis.kill()
  for (const gateway of running) await expect.poll(() => metric(gateway, 'swapgate_limits_local')).toBe(1)
  for (const gateway of running) {
    expect(await admitted(gateway, quotesLimit + 5)).toBe(quotesLimit / 2)
    expect(await metric(gateway, 'swapgate_limit_share_refusals_total{of="limit"}')).toBe(quotesLimit / 2)
  }
})

it('one that starts meanwhile has its share of the configured number', { timeout: 40_000 }, async () => {
  const third = await gateways.startInProcess()
  expect(await admitted(third, quotesLimit)).toBe(Math.floor(quotesLimit / 6))
})
