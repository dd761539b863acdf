// Takes long: it starts four processes.
/** docs/contract.md §7: four processes with a hundred callers of one account never admit more than its own limit, nor past the bound of a lost Redis. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startFormA } from '../support/form-a.ts'
import { RedisServer } from '../support/redis.ts'
import type { StandIn } from '../support/stand-in.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-account-limits-'))
const limit = 40
const callers = 100

let redis: RedisServer
let provider: StandIn
let gateways: readonly GatewayProcess[] = []

beforeAll(async () => {
  redis = await RedisServer.start()
  provider = await startFormA()
  const settings = {
    directory,
    mode: 'managed',
    providers: { alpha: { form: 'A', url: provider.url, key: 'own-key' } },
    sections: { redis: { url: redis.url }, replicas: 4, limits: { quotes: 1_000, create: 1_000, read: 1_000, window: 300 } },
  } as const
  gateways = await Promise.all(Array.from({ length: 4 }, () => GatewayProcess.start(settings)))
}, 60_000)
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
  await provider?.close()
  await redis?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** Keys of a new account with a limit of its own. */
async function account(name: string): Promise<readonly string[]> {
  const [first] = gateways as readonly [GatewayProcess]
  await first.command('accounts', 'set', name, '--read', String(limit))
  return await Promise.all(Array.from({ length: 5 }, () => first.createKey(name)))
}

/** So many requests by a hundred callers, each with one of the keys, at all gateways. Returns how many were admitted. */
async function admitted(keys: readonly string[], requests: number): Promise<number> {
  const send = async (at: number): Promise<number> => {
    const { url } = gateways[at % 4] as GatewayProcess
    const response = await fetch(`${url}/a/api/v2/transactions`, { headers: { authorization: `Bearer ${keys[at % keys.length]}` } })
    await response.text()
    return response.status
  }
  let sent = 0
  const statuses: number[] = []
  const caller = async (): Promise<void> => {
    while (sent < requests) statuses.push(await send(sent++))
  }
  await Promise.all(Array.from({ length: callers }, caller))
  expect(new Set(statuses).isSubsetOf(new Set([200, 429]))).toBe(true)
  return statuses.filter((status) => status === 200).length
}

async function areLocal(): Promise<readonly boolean[]> {
  const texts = await Promise.all(gateways.map((gateway) => gateway.metrics()))
  return texts.map((text) => /^swapgate_limits_local 1$/m.test(text))
}

const [all, none] = [true, false].map((isLocal) => Array.from({ length: 4 }, () => isLocal))

it('exactly its limit, over its keys and four processes', { timeout: 60_000 }, async () => {
  const keys = await account('acme')
  expect(await admitted(keys, 400)).toBe(limit)
  expect(await admitted(keys, 100)).toBe(0)
  const requests = async () =>
    (await gateways[0]?.command('usage', '--account', 'acme')) as { readonly accounts: readonly { readonly requests: object }[] }
  await expect
    .poll(async () => (await requests()).accounts[0]?.requests)
    .toEqual({ list_transactions: { ok: limit, limited: 500 - limit, refused: 0, failed: 0 } })
})

it('no more while Redis is lost, and at most twice the limit over a loss and a recovery in one window', {
  timeout: 60_000,
}, async () => {
  const [before, meanwhile] = [await account('globex'), await account('initech')]
  expect(await admitted(before, limit / 2)).toBe(limit / 2)
  await redis.kill()
  await expect.poll(areLocal).toEqual(all)
  expect(await admitted(meanwhile, 400)).toBe(limit)
  const lost = await admitted(before, 400)
  expect(lost).toBeLessThanOrEqual(limit)
  await redis.start()
  await expect.poll(areLocal).toEqual(none)
  const later = await admitted(before, 400)
  expect(limit / 2 + lost + later).toBeLessThanOrEqual(2 * limit)
  expect(limit + (await admitted(meanwhile, 400))).toBeLessThanOrEqual(2 * limit)
})
