/** PostgreSQL that is 50 ms away in each direction: only what waits one after the other takes long, so a clock counts round trips. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import { Gateways, type StartedGateway } from '../process/gateways.ts'
import { type DistantServer, startDistantServer } from '../support/distant-server.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'

const roundTripMs = 100

let postgres: Postgres
let distant: DistantServer
let gateways: Gateways
let gateway: StartedGateway
let acme: Customer
beforeEach(async () => {
  postgres = await startPostgres()
  distant = await startDistantServer(await postgres.createLedger(), roundTripMs / 2)
  gateways = await Gateways.prepare({ ledger: { url: distant.url } })
  gateway = await gateways.start()
  acme = await gateways.customer('acme', 'A')
}, 60_000)
afterEach(async () => {
  await gateways[Symbol.asyncDispose]()
  await distant[Symbol.asyncDispose]()
  await postgres.close()
})

/** The fewest of some tries, each with its share of the machine's noise; no more tries once there are so few. */
async function roundTripsOf(work: () => Promise<unknown>, expected: number): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 15 && fewest > expected; attempt++) {
    const startedAt = performance.now()
    await work()
    fewest = Math.min(fewest, Math.floor((performance.now() - startedAt) / roundTripMs))
  }
  return fewest
}

it('a create waits for it twice, and once more for its Idempotency-Key', { timeout: 60_000 }, async () => {
  const creating = () => acme.create(gateway.url, gateways.order())
  expect(await roundTripsOf(creating, 2)).toBe(2)
  const withKey = () => {
    const order = gateways.order()
    return acme.create(gateway.url, order, { idempotencyKey: order.withdrawalAddress })
  }
  expect(await roundTripsOf(withKey, 3)).toBe(3)
})
