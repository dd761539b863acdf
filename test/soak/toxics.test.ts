// Takes long: seconds of load.
/** Load while networks fail at random. Some seconds; minutes with `npm run test:soak`. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { toxics } from '../chaos/commands.ts'
import { randomOf } from '../chaos/random.ts'
import { World } from '../chaos/world.ts'
import type { Customer } from '../checker/customer.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

const seconds = Number(process.env.SWAPGATE_SOAK ?? 10)
const directions = ['upstream', 'downstream'] as const

it('X11: under load and random toxics I1 to I11 hold, and memory and sockets come back', {
  timeout: (3 * seconds + 60) * 1000,
}, async () => {
  const seed = Date.now() % 2 ** 31
  const random = randomOf(seed)
  await using world = await World.start({ accounts: ['acme', 'globex', 'initech'], gateways: 1 })
  const [gateway] = world.gateways as [World['gateways'][number]]
  const end = performance.now() + seconds * 1000
  const isOver = (): boolean => performance.now() > end
  const figures: ProcessUsage[] = []
  const live = async (customer: Customer): Promise<void> => {
    while (!isOver()) {
      const order = world.order()
      const made = await customer.create(gateway.url, order, { idempotencyKey: order.withdrawalAddress })
      const { id = 'alpha~none' } = (made?.json ?? {}) as { id?: string }
      await customer.get(gateway.url, id)
      await customer.list(gateway.url, 1, 20)
    }
  }
  const spoil = async (): Promise<void> => {
    while (!isOver()) {
      const site = pick(Object.values(world.sites), random)
      const lift = site.network.add(pick(Object.values(toxics), random), pick(directions, random))
      await wait(300 * random())
      lift()
      await wait(500 * random())
      figures.push(usageOf(await gateway.metrics()))
    }
  }
  await Promise.all([...world.customers, ...world.customers].map(live).concat(spoil()))

  const last = usageOf(await gateway.metrics())
  const halfWay = figures[Math.floor(figures.length / 2)] ?? last
  const operations = world.history.operations.length
  console.info(`soak of ${seconds} s: seed ${seed}`, { operations, halfWay, last })
  expect(operations).toBeGreaterThan(20)
  expect(last.memory - halfWay.memory, 'megabytes').toBeLessThan(100)
  expect(last.files - halfWay.files).toBeLessThan(50)
  expect(await world.violations()).toEqual([])
})

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T
}
