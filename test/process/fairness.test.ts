// Runs alone: traffic that must not be shed.
/** What one account, or a silent PostgreSQL, costs the others. How soon they are answered: `npm run bench:isolation`. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Customer, credential } from '../checker/customer.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { execute, hasPostgresPrograms, type OwnPostgres, startOwnPostgres } from '../support/postgres-server.ts'
import { assets } from '../support/swaps.ts'
import { Gateways, type StartedGateway } from './gateways.ts'

interface Rig {
  readonly postgres: OwnPostgres
  readonly gateways: Gateways
  readonly gateway: StartedGateway
}

async function start(settings: readonly string[] = []): Promise<Rig> {
  const postgres = await startOwnPostgres(settings)
  onTestFinished(postgres.close)
  const gateways = await Gateways.prepare({ ledger: { url: postgres.url, refreshAfter: 60 } })
  onTestFinished(() => gateways[Symbol.asyncDispose]())
  return { postgres, gateways, gateway: await gateways.start() }
}

async function createdSwap({ gateways, gateway }: Rig, customer: Customer): Promise<string> {
  const created = await customer.create(gateway.url, gateways.order())
  expect(created?.status).toBe(201)
  return (created as { readonly json: { readonly id: string } }).json.id
}

/** Of a swap of this customer that has ended, and was read once. */
async function endedSwap(rig: Rig, customer: Customer): Promise<string> {
  const id = await createdSwap(rig, customer)
  await execute(rig.postgres.url, `UPDATE transactions SET status = 'success' WHERE provider_id = '${id.split('~')[1]}'`)
  expect((await customer.get(rig.gateway.url, id))?.status).toBe(200)
  return id
}

interface Answered {
  readonly status: number
  readonly reason: unknown
}

async function answered(sending: () => Promise<ReceivedResponse | undefined>): Promise<Answered> {
  const response = await sending()
  return { status: response?.status ?? 0, reason: response?.headers['x-swap-reason'] }
}

/** Evenly spread, whatever the responses take. */
async function load(perSecond: number, seconds: number, sending: () => Promise<ReceivedResponse | undefined>) {
  const startedAt = performance.now()
  const pending: Promise<Answered>[] = []
  while (pending.length < perSecond * seconds) {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond
    while (pending.length < Math.min(due, perSecond * seconds)) pending.push(answered(sending))
    await delay(5)
  }
  return Promise.all(pending)
}

const refusedAmong = (responses: readonly Answered[]): readonly Answered[] => responses.filter(({ status }) => status !== 200)

const quotePath = `/a/api/v2/rate?coinFrom=${assets.xrp.code}&coinTo=${assets.usdtEth.code}&amount=1`
const quote = ({ url }: StartedGateway, { key }: Customer): Promise<ReceivedResponse> =>
  sendRequest(url, { path: quotePath, headers: credential('A', key) })

describe.runIf(hasPostgresPrograms)('X15: an account that creates more than the ledger can take', () => {
  test('is refused alone: gets and quotes of others are all answered', async () => {
    // As a disk that takes 20 ms for a commit.
    const rig = await start(['fsync=on', 'commit_delay=20000', 'commit_siblings=0'])
    const { gateways, gateway } = rig
    const [noisy, quiet] = [await gateways.customer('noisy', 'A'), await gateways.customer('quiet', 'A')]
    const id = await createdSwap(rig, quiet)
    const measure = async (seconds: { gets: number; quotes: number }) => ({
      gets: await load(50, seconds.gets, () => quiet.get(gateway.url, id)),
      quotes: await load(50, seconds.quotes, () => quote(gateway, quiet)),
    })
    const creating = load(300, 7, () => noisy.create(gateway.url, gateways.order()))
    await delay(500)
    const beside = await measure({ gets: 4, quotes: 2 })
    const own = quiet.create(gateway.url, gateways.order())
    const creates = await creating
    expect(refusedAmong([...beside.gets, ...beside.quotes])).toEqual([])
    expect((await own)?.status).toBe(201)
    const shed = creates.filter(({ status }) => status !== 201)
    // A fast machine carries all of them: they share their flushes.
    expect(new Set(shed.map(({ status, reason }) => `${status} ${reason}`)).difference(new Set(['503 overloaded']))).toEqual(
      new Set(),
    )
  }, 120_000)
})

describe.runIf(hasPostgresPrograms)('X16: a PostgreSQL that is frozen', () => {
  test('refuses no quote with a key; creates and reads are 503', async () => {
    const rig = await start()
    const { postgres, gateways, gateway } = rig
    const customer = await gateways.customer('acme', 'A')
    const ended = await endedSwap(rig, customer)
    await load(50, 1, () => quote(gateway, customer))
    postgres.freeze()
    expect(await answered(() => customer.get(gateway.url, ended))).toMatchObject({ status: 200 })
    const quotes = load(50, 6, () => quote(gateway, customer))
    await delay(2_500) // the key was looked up more than two seconds ago
    const idempotencyKey = 'order-1'
    const order = gateways.order()
    const create = () => customer.create(gateway.url, order, { idempotencyKey })
    for (const sending of [create, () => customer.get(gateway.url, ended), () => customer.list(gateway.url)]) {
      expect(await answered(sending)).toEqual({ status: 503, reason: 'ledger_unavailable' })
    }
    expect(refusedAmong(await quotes)).toEqual([])
    postgres.thaw()
    await expect.poll(async () => (await create())?.status, { timeout: 20_000 }).toBe(201)
    expect(readJournal(gateways.provider.settings.journal).filter(({ what }) => what === 'applied')).toHaveLength(2)
  }, 120_000)

  test('lets no create and no read pass with a key that was revoked', async () => {
    const rig = await start()
    const { postgres, gateways, gateway } = rig
    const customer = await gateways.customer('acme', 'A')
    const ended = await endedSwap(rig, customer)
    await execute(postgres.url, `UPDATE keys SET revoked_at = ${Date.now()}`)
    postgres.freeze()
    await delay(2_000) // for so long a change may take
    const sendings = [
      () => customer.create(gateway.url, gateways.order()),
      () => customer.get(gateway.url, ended),
      () => customer.list(gateway.url),
    ]
    const statuses = async () => new Set((await Promise.all(sendings.map(answered))).map(({ status }) => status))
    for (let time = 0; time < 3; time++) {
      expect(new Set([503, 401]).isSupersetOf(await statuses())).toBe(true)
      await delay(1_000)
    }
    expect((await answered(() => quote(gateway, customer))).status).toBe(200)
    postgres.thaw()
    await expect.poll(statuses, { timeout: 20_000 }).toEqual(new Set([401]))
  }, 120_000)
})
