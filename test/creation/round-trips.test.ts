/** How often a create goes to PostgreSQL: how often the server is ready again until the result is stored, at a proxy between both. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { type CreateFacts, type Rig, startRig } from '../providers/rig.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { readJson } from '../support/json.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'

let server: Postgres
let proxy: PostgresProxy
let rig: Rig
beforeAll(async () => {
  server = await startPostgres()
  proxy = await startPostgresProxy(await server.createDatabase())
  rig = await startRig('changenow', { ledger: proxy.url, ledgerLayer, steadyClock: () => performance.now() })
  await create({}) // the first one of an account makes its page index
}, 60_000)
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  proxy.close()
  await server.close()
})

let roundTrips = 0
/** Until the last result was stored. */
let untilStored = 0

const ledgerLayer = (ledger: Ledger): Ledger => ({
  ...ledger,
  async complete(...result) {
    const isAccepted = await ledger.complete(...result)
    untilStored = roundTrips
    return isAccepted
  },
})

async function create(facts: CreateFacts): Promise<ReceivedResponse> {
  const response = await rig.create('A', facts)
  expect(response.status, response.text).toBe(201)
  return response
}

/** After a create its timeline is written, and its event numbered. */
const quietMs = 700

async function quiet(): Promise<void> {
  let readyAt = performance.now()
  proxy.onReady(() => {
    readyAt = performance.now()
  })
  while (performance.now() - readyAt < quietMs) await delay(50)
}

let keys = 0
const key = () => ({ idempotencyKey: `order-${++keys}` })

async function quoted(): Promise<CreateFacts> {
  const { text } = await rig.quote('A', { rateType: 'fixed', firm: true })
  const { quoteId } = readJson(text) as { readonly quoteId: string }
  return { rateType: 'fixed', body: { quoteId } }
}

it.each<[string, number, () => Promise<CreateFacts>]>([
  ['a create', 2, async () => ({})],
  ['with an Idempotency-Key', 3, async () => key()],
  ['at a fixed rate, with a quote of its own', 3, async () => ({ rateType: 'fixed' })],
  ['the same with an Idempotency-Key', 4, async () => ({ rateType: 'fixed', ...key() })],
  ['with the id of a quote', 3, quoted],
  ['the same with an Idempotency-Key', 4, async () => ({ ...(await quoted()), ...key() })],
])('%s: %d', async (_, expected, prepare) => {
  const counts: number[] = []
  // What the gateway does each second may be among them.
  for (let attempt = 0; attempt < 4 && !counts.includes(expected); attempt++) {
    const facts = await prepare()
    await quiet()
    await rig.quote('A') // the client's key is looked at again after two seconds
    roundTrips = 0
    proxy.onReady(() => void roundTrips++)
    await create(facts)
    counts.push(untilStored)
  }
  expect(Math.min(...counts)).toBe(expected)
})
