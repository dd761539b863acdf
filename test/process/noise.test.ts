/** A client that sends nonsense as fast as it can. */
import { expect, it } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { Gateways } from './gateways.ts'

const timeout = 30_000
const nonsense = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=none'
const limits = { quotes: 60, create: 100_000, read: 100_000 }

it('X12: of 4,000 cheap 400s all but the limit are 429, and another client is served as before', { timeout }, async () => {
  await using gateways = await Gateways.prepare({ limits })
  const gateway = await gateways.start()
  const acme = await gateways.customer('acme', 'A')
  const { json } = (await acme.create(gateway.url, gateways.order())) ?? {}
  const { id } = json as { readonly id: string }
  const statuses = new Map<number, number>()
  let sentCount = 0
  const flood = Array.from({ length: 16 }, async () => {
    while (sentCount++ < 4_000) {
      const response = await sendRequest(gateway.url, { path: nonsense })
      expectRefusal(response, 'A', response.status)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    }
  })
  const times: number[] = []
  while (sentCount < 4_000) {
    const began = performance.now()
    expect((await acme.get(gateway.url, id))?.status).toBe(200)
    times.push(performance.now() - began)
  }
  await Promise.all(flood)
  expect(Object.fromEntries(statuses)).toEqual({ 400: 60, 429: 3_940 })
  expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(250)
})
