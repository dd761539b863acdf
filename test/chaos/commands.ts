/** The parts of a random mix. No single response is checked: the checker checks all records. */
import { setTimeout } from 'node:timers/promises'
import type { AsyncCommand } from 'fast-check'
import type { Direction } from '../checker/connection.ts'
import type { Customer } from '../checker/customer.ts'
import type { GatewayProcess } from '../checker/gateway-process.ts'
import type { Order } from '../checker/order.ts'
import type { Fault } from '../checker/provider/fault.ts'
import { latency, limitData, resetPeer, slicer, type Toxic, timeout } from '../checker/toxics.ts'
import type { SiteName, World } from './world.ts'

/** What is known without a request. */
export interface Model {
  isUp: boolean
  /** Creates under a key, that can be repeated. */
  readonly keyed: { readonly customer: Customer; readonly order: Order; readonly idempotencyKey: string }[]
}

export type Command = AsyncCommand<Model, World>

export const toxics = {
  'late bytes': latency(20, 20),
  'a reset': resetPeer(),
  silence: timeout(0),
  'half of the bytes': limitData(150),
  'small pieces': slicer(20, 1),
} satisfies Record<string, Toxic>

type ToxicName = keyof typeof toxics

function command(
  name: string,
  run: (model: Model, world: World) => Promise<unknown>,
  isPossible = ({ isUp }: Readonly<Model>) => isUp,
): Command {
  return { check: isPossible, run: async (model, world) => void (await run(model, world)), toString: () => name }
}

/** Which client, and whether under an idempotency key of its own. */
export interface Caller {
  readonly who: number
  readonly isKeyed: boolean
}

export function create(caller: Caller): Command {
  return command(`create(${labelOf(caller)})`, (model, world) => sendRequest(caller, model, world))
}

async function sendRequest({ who, isKeyed }: Caller, model: Model, world: World): Promise<unknown> {
  const customer = customerOf(world, who)
  const order = world.order()
  if (!isKeyed) return customer.create(gatewayOf(world).url, order)
  const idempotencyKey = `key-${model.keyed.length}`
  model.keyed.push({ customer, order, idempotencyKey })
  return customer.create(gatewayOf(world).url, order, { idempotencyKey })
}

function labelOf({ who, isKeyed }: Caller): string {
  return `${who} ${isKeyed ? 'with' : 'without'} a key`
}

/** The same create under the same key, at once. */
export function burst(who: number): Command {
  return command(`create(${who}, 4 times at once)`, async ({ keyed }, world) => {
    const repeated = { customer: customerOf(world, who), order: world.order(), idempotencyKey: `key-${keyed.length}` }
    keyed.push(repeated)
    await Promise.all(Array.from({ length: 4 }, () => repeat(repeated, world)))
  })
}

export function retry(which: number): Command {
  return command(`retry(${which})`, async ({ keyed }, world) => {
    const repeated = pick(keyed, which)
    if (repeated) await repeat(repeated, world)
  })
}

function repeat({ customer, order, idempotencyKey }: Model['keyed'][number], world: World): Promise<unknown> {
  return customer.create(gatewayOf(world).url, order, { idempotencyKey })
}

/** The same text of a key means nothing in the hands of another client. */
export function retryAsAnother(who: number, which: number): Command {
  return command(`use the key of ${which}(${who})`, async ({ keyed }, world) => {
    const { idempotencyKey } = pick(keyed, which) ?? {}
    if (idempotencyKey) await customerOf(world, who).create(gatewayOf(world).url, world.order(), { idempotencyKey })
  })
}

export type Moment = 'at once' | 'applied' | 'responded'

/** While a create is in progress by the provider's journal. */
export function kill(caller: Caller, moment: Moment): Command {
  return command(`kill(during a create of ${labelOf(caller)}, ${moment})`, async (model, world) => {
    const before = countOf(world, moment)
    await world.sites.alpha.provider.fault({ delay: 30 })
    let isOver = false
    const creating = sendRequest(caller, model, world).finally(() => {
      isOver = true
    })
    while (!isOver && moment !== 'at once' && countOf(world, moment) === before) await setTimeout(1)
    await gatewayOf(world).kill()
    await creating
    await world.sites.alpha.provider.heal()
    model.isUp = false
  })
}

/** How many creates have come so far. */
function countOf(world: World, moment: Moment): number {
  const counts = Object.values(world.journals()).map((journal) => {
    const applied = new Set(journal.flatMap((entry) => (entry.what === 'applied' ? [entry.request] : [])))
    return journal.filter((entry) => entry.what !== 'held' && entry.what === moment && applied.has(entry.request)).length
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

export function restart(): Command {
  return command(
    'restart',
    async (model, world) => {
      await gatewayOf(world).start()
      model.isUp = true
    },
    ({ isUp }) => !isUp,
  )
}

export function network(caller: Caller, at: SiteName, way: Direction, name: ToxicName): Command {
  return command(`create(${labelOf(caller)}, ${name} ${way} at ${at})`, async (model, world) => {
    const lift = world.sites[at].network.add(toxics[name], way)
    await sendRequest(caller, model, world)
    lift()
  })
}

export function down(caller: Caller, at: SiteName): Command {
  return command(`create(${labelOf(caller)}, ${at} is down)`, async (model, world) => {
    await world.sites[at].network.down()
    await sendRequest(caller, model, world)
    await world.sites[at].network.up()
  })
}

export function failure(caller: Caller, fault: Fault): Command {
  return command(`create(${labelOf(caller)}, ${JSON.stringify(fault)})`, async (model, world) => {
    await world.sites.alpha.provider.fault(fault)
    await sendRequest(caller, model, world)
    await world.sites.alpha.provider.heal()
  })
}

export function read(who: number, which: number): Command {
  return command(`read(${who}, ${which})`, async (_, world) => {
    const ids = world.history.operations.flatMap(({ transactions }) => transactions.map(({ id }) => id))
    const id = pick(ids, which)
    if (id !== undefined) await customerOf(world, who).get(gatewayOf(world).url, id)
  })
}

export function list(who: number): Command {
  return command(`list(${who})`, (_, world) => customerOf(world, who).list(gatewayOf(world).url))
}

function pick<T>(values: readonly T[], which: number): T | undefined {
  return values[which % values.length]
}

function gatewayOf({ gateways }: World): GatewayProcess {
  return gateways[0] as GatewayProcess
}

function customerOf({ customers }: World, who: number): Customer {
  return customers[who] as Customer
}
