/** docs/contract.md §3.11: an action is sent once, whenever a gateway is killed, and its owner learns what became of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayProcess } from '../checker/gateway-process.ts'
import type { Toxic } from '../checker/toxics.ts'
import type { Action, Swap } from '../providers/stand-ins/exchange.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { refundAddress } from './rig.ts'
import { type ActingProvider, type BegunSwap, startTwoGateways, type TwoGateways } from './two-gateways.ts'

interface Case {
  readonly action: string
  readonly at: ActingProvider
  /** Of the create. */
  readonly facts?: object
  /** What the provider makes of the swap, so that the action is possible. */
  readonly state: Partial<Swap>
  readonly body: object
  /** What the provider gets. */
  readonly sent: Action
  /** What the owner reads afterwards. */
  readonly shown: object
}

const held = { status: 'verifying', hasActions: true }
const cases: readonly Case[] = [
  {
    ...{ action: 'refund', at: 'changenow', state: held, body: { address: refundAddress } },
    ...{ sent: 'refund', shown: { status: 'refunded', refundAddress } },
  },
  { action: 'continue', at: 'changenow', state: held, body: {}, sent: 'continue', shown: { status: 'exchanging' } },
  {
    ...{ action: 'refund-address', at: 'sideshift', state: { status: 'refund' }, body: { address: refundAddress } },
    ...{ sent: 'refundAddress', shown: { refundAddress } },
  },
  {
    ...{ action: 'refund', at: 'sideshift', facts: { refundAddress }, state: {}, body: {} },
    ...{ sent: 'refund', shown: { status: 'overdue' } },
  },
]
const roundCount = rounds(1, 8)
const stores = ['PostgreSQL', 'SQLite'].slice(0, rounds(1, 2))
const requestsOfRound = 10
const kinds: readonly Action[] = ['refund', 'continue', 'refundAddress']

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

let world: TwoGateways

/** How often the provider got an action on this swap. */
function receivedFor({ at, swap: { id } }: BegunSwap): number {
  const got = kinds.flatMap((kind) => world.exchanges[at].received(kind))
  return got.filter(({ path, body }) => path.includes(id) || body.includes(`"${id}"`)).length
}

async function begun({ at, facts, state }: Case): Promise<BegunSwap> {
  const swap = await world.begin(at, facts)
  Object.assign(swap.swap, state)
  return swap
}

interface Struck {
  readonly of: Case
  readonly swap: BegunSwap
}

/** Requests each action at the first gateway, and kills both as soon as all of them are there; the second one starts again. */
async function killAt(isThere: (all: readonly Struck[]) => boolean): Promise<readonly Struck[]> {
  const all: Struck[] = []
  for (const of of cases) all.push({ of, swap: await begun(of) })
  const [first, second] = world.gateways
  const running = all.map(({ of, swap }) => world.act(swap, of.action, of.body, first))
  await expect.poll(() => isThere(all), { interval: 5 }).toBe(true)
  await Promise.all([first.kill(), second.kill()])
  await Promise.all(running)
  await second.start()
  return all
}

async function expectOwnerIsTold({ of, swap }: Struck): Promise<void> {
  const repeated = () => world.act(swap, of.action, of.body)
  await expect.poll(async () => (await repeated())?.status, { interval: 200 }).toBe(200)
  const { headers, json } = (await repeated()) as ReceivedResponse
  expect(headers['idempotent-replayed']).toBe('true')
  expect(json).toMatchObject(of.shown)
  expect((await world.read(swap)).json).toMatchObject(of.shown)
  expect(receivedFor(swap)).toBe(1)
}

describe.each(stores)('kill -9, with %s', (store) => {
  beforeAll(async () => {
    world = await startTwoGateways(store === 'PostgreSQL' ? await postgres.createLedger() : undefined)
  }, 60_000)
  afterAll(() => world[Symbol.asyncDispose]())

  test('before the provider gets it: it is never sent, until a person who knows that sends it once', async () => {
    const [first] = world.gateways
    let caught = 0
    const swallow: Toxic = ({ wait }) => ({
      async *piece(bytes) {
        if (/^POST \S*(?:refund|continue|cancel-order)/.test(bytes.toString('latin1'))) {
          caught++
          await wait(Number.POSITIVE_INFINITY)
        } else yield bytes
      },
    })
    const lifts = Object.values(world.proxies).map((proxy) => proxy.add(swallow, 'upstream'))
    const all = await killAt(() => caught === cases.length)
    for (const proxy of Object.values(world.proxies)) proxy.cut()
    for (const lift of lifts) lift()
    await first.start()
    for (const { of, swap } of all)
      for (const gateway of world.gateways)
        expectRefusal((await world.act(swap, of.action, of.body, gateway)) as ReceivedResponse, 'A', 409, 'in_progress')
    await world.age(true)
    for (const { of, swap } of all) {
      const reason = async () => (await world.act(swap, of.action, of.body))?.headers['x-swap-reason']
      await expect.poll(reason, { interval: 200 }).toBe('needs_person')
      expect(receivedFor(swap)).toBe(0)
      const forced = await world.force(swap, of.action, of.body)
      expect(forced.status, forced.text).toBe(200)
      await expectOwnerIsTold({ of, swap })
    }
  }, 120_000)

  test.each(['before', 'after'] as const)(
    '%s the provider responds: it is found, and its owner told',
    async (when) => {
      const responds = Promise.withResolvers<void>()
      for (const exchange of Object.values(world.exchanges))
        exchange.tamper = (operation, reply) =>
          kinds.some((kind) => kind === operation) ? { ...reply, after: responds.promise } : undefined
      const all = await killAt((struck) => {
        const isSent = struck.every(({ swap }) => receivedFor(swap) === 1)
        if (isSent && when === 'after') responds.resolve()
        return isSent
      })
      for (const exchange of Object.values(world.exchanges)) exchange.tamper = () => undefined
      for (const { of, swap } of all) {
        const { status } = (await world.act(swap, of.action, of.body)) as ReceivedResponse
        expect(when === 'before' ? [409] : [200, 409]).toContain(status)
      }
      await world.age()
      for (const struck of all) await expectOwnerIsTold(struck)
      await world.gateways[0].start()
    },
    120_000,
  )

  test('between the two calls of a refund with an address: each is sent once', async () => {
    const [first, second] = world.gateways
    const never = new Promise(() => {})
    for (const stopsAt of ['refundAddress', 'refund'] as const) {
      const swap = await world.begin('sideshift')
      const body = { address: refundAddress }
      world.exchanges.sideshift.tamper = (operation, reply) => (operation === stopsAt ? { ...reply, after: never } : undefined)
      const running = world.act(swap, 'refund', body, first)
      await expect.poll(() => receivedFor(swap), { interval: 5 }).toBe(stopsAt === 'refund' ? 2 : 1)
      await first.kill()
      await running
      world.exchanges.sideshift.tamper = () => undefined
      await world.age()
      await expect
        .poll(async () => (await world.act(swap, 'refund', body, second))?.json, { interval: 200 })
        .toMatchObject({ status: 'overdue', refundAddress })
      expect(receivedFor(swap)).toBe(2)
      await first.start()
    }
  }, 120_000)

  test('at any instant, while both gateways get the request many times: it is sent once at most', async () => {
    for (let round = 0; round < roundCount; round++) {
      const of = cases[round % cases.length] as Case
      const swap = await begun(of)
      const requests = () =>
        Array.from({ length: requestsOfRound }, (_, at) => world.act(swap, of.action, of.body, world.gateways[at % 2]))
      // Each round at a later one of the reads that come before an action.
      const isThere = Promise.withResolvers<void>()
      let reads = 0
      world.exchanges[of.at].tamper = (operation) => {
        if (operation === 'get' && ++reads > round) isThere.resolve()
        return undefined
      }
      const sent = requests()
      const victim = world.gateways[round % 2] as GatewayProcess
      await Promise.race([isThere.promise, Promise.all(sent)])
      world.exchanges[of.at].tamper = () => undefined
      await victim.kill()
      await Promise.all(sent)
      await victim.start()
      for (const response of await Promise.all(requests())) expect([200, 409]).toContain(response?.status)
      await world.age()
      if (receivedFor(swap) > 0) await expectOwnerIsTold({ of, swap })
    }
  }, 180_000)
})
