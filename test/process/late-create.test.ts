/** A gateway gets SIGTERM while a provider still works on a create. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import { Gateways } from './gateways.ts'

const timeout = 30_000
const idempotencyKey = 'order-2'

/** How many creates the provider made. */
function applied({ provider }: Gateways): number {
  return readJournal(provider.settings.journal).filter(({ what }) => what === 'applied').length
}

it('D2: a create with a late response of the provider gets its response before the process ends', { timeout }, async () => {
  await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay: 0 } })
  const gateway = await gateways.start()
  const acme = await gateways.customer('acme', 'A')
  await gateways.provider.fault({ delay: 700 })
  const creating = acme.create(gateway.url, gateways.order(), { idempotencyKey })
  await expect.poll(() => applied(gateways)).toBe(1)
  gateway.process.child.kill('SIGTERM')
  const response = await creating
  expect([response?.status, response?.headers.connection]).toEqual([201, 'close'])
  expect(await gateway.process.ended).toMatchObject({ exitCode: 0, complaints: '' })
  expect(await gateways.command('ledger', 'unknown')).toEqual([])
  expect(await gateways.violations(await gateways.startInProcess(), [acme])).toEqual([])
})

it('D2: later than server.drain it is unknown, and found after the next start', { timeout }, async () => {
  await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay: 0, drain: 0.2 } })
  const gateway = await gateways.start()
  const acme = await gateways.customer('acme', 'A')
  await gateways.provider.fault({ delay: 3_000 })
  const order = gateways.order()
  const creating = acme.create(gateway.url, order, { idempotencyKey })
  await expect.poll(() => applied(gateways)).toBe(1)
  const began = performance.now()
  gateway.process.child.kill('SIGTERM')
  expect(await creating).toBeUndefined()
  expect(await gateway.process.ended).toMatchObject({ exitCode: 0, complaints: '' })
  expect(performance.now() - began).toBeLessThan(2_500)
  expect(await gateways.command('ledger', 'unknown')).toMatchObject([{ requested: { withdrawalAddress: order.withdrawalAddress } }])

  const next = await gateways.startInProcess()
  expect((await acme.create(next.url, order, { idempotencyKey }))?.status).toBe(409)
  lookNow(gateways)
  const again = async () => await acme.create(next.url, order, { idempotencyKey })
  await expect.poll(async () => (await again())?.status, { interval: 100 }).toBe(201)
  expect((await again())?.headers['idempotent-replayed']).toBe('true')
  expect(applied(gateways)).toBe(1)
  expect(await gateways.violations(next, [acme])).toEqual([])
})

/** The time comes at which what is unknown is to be looked for. */
function lookNow({ directory }: Gateways): void {
  const database = new DatabaseSync(join(directory, 'ledger.db'), { timeout: 2_000 })
  database.exec('UPDATE transactions SET next_check_at = 1 WHERE next_check_at IS NOT NULL')
  database.close()
}
