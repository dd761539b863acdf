/** The gateways behind a balancer are replaced one after another under load, and no client notices. */
import { expect, it } from 'vitest'
import type { Customer } from '../checker/customer.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { sendRequest } from '../support/client.ts'
import { Balancer } from './balancer.ts'
import { Gateways, type StartedGateway } from './gateways.ts'

const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1'

/** One client's day, over and over: a quote, a create, a read, a list. Statuses other than those that are wanted are kept. */
async function live(customer: Customer, gateways: Gateways, balancer: Balancer<StartedGateway>, isOver: () => boolean) {
  const wrong: unknown[] = []
  const created = customer.form === 'A' ? 201 : 200
  while (!isOver()) {
    const order = gateways.order()
    const quoted = await sendRequest(balancer.url, { path: quote }).catch((reason: Error) => ({ status: 0, text: reason.message }))
    const made = await customer.create(balancer.url, order, { idempotencyKey: order.withdrawalAddress })
    const { id = '' } = (made?.json ?? {}) as { id?: string }
    const got = await customer.get(balancer.url, id)
    const listed = await customer.list(balancer.url, 1, 10)
    const statuses = [quoted.status, made?.status, got?.status, listed?.status]
    if (statuses.join() !== [200, created, 200, 200].join()) wrong.push(statuses, quoted.text, made?.text, got?.text)
  }
  return wrong
}

it('D8: two processes are replaced under load, and no request fails, creates included', { timeout: 120_000 }, async () => {
  await using gateways = await Gateways.prepare({ server: { port: 0, shutdownDelay: 2 } })
  const balancer = new Balancer<StartedGateway>()
  let running = [await gateways.start(), await gateways.start()]
  await Promise.all(running.map((gateway) => balancer.add(gateway)))
  const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'B')]
  await gateways.provider.fault({ times: 1_000_000, delay: 20 })
  let isOver = false
  const load = customers.flatMap((customer) => [1, 2, 3, 4].map(() => live(customer, gateways, balancer, () => isOver)))

  for (const old of running) {
    const next = await gateways.start()
    await balancer.add(next)
    old.process.child.kill('SIGTERM')
    expect(await old.process.ended).toMatchObject({ exitCode: 0, complaints: '' })
    balancer.remove(old)
    running = [...running.filter((gateway) => gateway !== old), next]
  }
  const { length } = gateways.history.operations
  await expect.poll(() => gateways.history.operations.length).toBeGreaterThan(length + 50)
  isOver = true
  expect((await Promise.all(load)).flat()).toEqual([])
  balancer.end()
  const created = gateways.history.operations.filter(({ kind }) => kind === 'create').length
  const applied = readJournal(gateways.provider.settings.journal).filter(({ what }) => what === 'applied').length
  expect([created > 50, applied]).toEqual([true, created])
  expect(await gateways.violations(running[0] as StartedGateway, customers)).toEqual([])
})
