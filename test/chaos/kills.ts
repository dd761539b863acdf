/** Gateways on one ledger are killed repeatedly, while clients create, and send again if no response comes. */
import { setTimeout } from 'node:timers/promises'
import type { Customer } from '../checker/customer.ts'
import { effectsOf } from '../checker/evidence.ts'
import type { GatewayProcess } from '../checker/gateway-process.ts'
import type { Order } from '../checker/order.ts'
import { latency } from '../checker/toxics.ts'
import { World, type WorldSettings } from './world.ts'

export interface KillSettings extends WorldSettings {
  readonly kills: number
  /** Creates that are under way at each kill. */
  readonly creates: number
  /** From 0 to 1. */
  readonly random: () => number
  /** How long the gateways may look for what is open at the end, in milliseconds. */
  readonly recoveryTimeoutMs: number
}

export interface Figures {
  readonly kills: number
  readonly creates: number
  /** Creates without a first response, or with an unknown outcome. */
  readonly cutOff: number
  /** Of those: the retry returned the transaction, at once or at the end; or it is still open. */
  readonly completedLater: number
  readonly stillOpen: number
  /** What the providers hold. */
  readonly applied: number
  readonly violations: readonly string[]
}

/** A kill falls into so many milliseconds after the first create was sent. */
const window = 150

interface Wanted {
  readonly customer: Customer
  readonly order: Order
  readonly idempotencyKey: string
  /** Of each request; 0 without a response. */
  readonly statuses: number[]
}

export async function killOverAndOver(settings: KillSettings): Promise<Figures> {
  const { kills, creates, random, recoveryTimeoutMs } = settings
  await using world = await World.start(settings)
  const lifts = Object.values(world.sites).map(({ network }) => network.add(latency(20, 20, random), 'downstream'))
  const all: Wanted[] = []
  for (let kill = 0; kill < kills; kill++) {
    const wanted = Array.from({ length: creates }, (_, at) => want(world, `kill-${kill}-${at}`, random))
    all.push(...wanted)
    await killDuring(wanted, world, random)
  }
  for (const lift of lifts) lift()
  await untilResolved(all, world, recoveryTimeoutMs)
  const cutOff = all.filter(({ statuses: [first] }) => !isDone(first))
  return {
    kills,
    creates: all.length,
    cutOff: cutOff.length,
    completedLater: cutOff.filter(({ statuses }) => isDone(statuses.at(-1))).length,
    stillOpen: cutOff.filter(({ statuses }) => !isDone(statuses.at(-1))).length,
    applied: effectsOf({ journals: world.journals(), operations: [] }).length,
    violations: await world.violations(),
  }
}

function want(world: World, idempotencyKey: string, random: () => number): Wanted {
  return { customer: pick(world.customers, random), order: world.order(), idempotencyKey, statuses: [] }
}

/** One gateway is killed while all of these are in flight, and starts again while those without a response are sent again. */
async function killDuring(wanted: readonly Wanted[], { gateways }: World, random: () => number): Promise<void> {
  const victim = pick(gateways, random)
  const creating = wanted.map((create) => sendRequest(create, pick(gateways, random)))
  await setTimeout(random() * window)
  await victim.kill()
  await Promise.all(creating)
  const survivor = gateways.find((gateway) => gateway !== victim)
  const again = survivor ? wanted.filter(({ statuses: [first] }) => first === 0).map((create) => sendRequest(create, survivor)) : []
  await Promise.all([victim.start(), ...again])
}

/** Every open create is sent once more, when the gateways have found its outcome or their time is over. */
async function untilResolved(all: readonly Wanted[], world: World, recoveryTimeoutMs: number): Promise<void> {
  const deadline = Date.now() + recoveryTimeoutMs
  const [gateway] = world.gateways as [GatewayProcess]
  while (Date.now() < deadline && (await world.openEffects()) > 0) await setTimeout(500)
  for (const create of all) if (!isDone(create.statuses.at(-1))) await sendRequest(create, gateway)
}

async function sendRequest({ customer, order, idempotencyKey, statuses }: Wanted, { url }: GatewayProcess): Promise<void> {
  const response = await customer.create(url, order, { idempotencyKey })
  statuses.push(response?.status ?? 0)
}

function isDone(status: number | undefined): boolean {
  return status === 200 || status === 201
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T
}
