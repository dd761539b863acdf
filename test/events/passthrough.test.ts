/** docs/contract.md §18.2: with the provider's own keys there are streams of single swaps. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { clientKey } from '../support/gateway.ts'
import { orderIn } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { swap } from '../support/swaps.ts'

let rig: Passthrough
const start = async (ledgerLayer?: (ledger: Ledger) => Ledger): Promise<void> => {
  const statuses = { broken: 'failed', frozen: 'held' }
  const sections = { ledger: { refreshAfter: 0 } }
  rig = await startPassthrough('beta', { sections, ...(ledgerLayer && { ledgerLayer }) }, { statuses })
}
beforeEach(() => start())
afterEach(() => rig[Symbol.asyncDispose]())

const advance = (facts: object): void => {
  rig.beta.holdings.swaps = rig.beta.holdings.swaps.map((known) => ({ ...known, ...facts }))
}

describe.each(formNames)('form %s', (form) => {
  const headers = form === 'A' ? { authorization: `Bearer ${clientKey}` } : { 'x-api-key': clientKey }
  const open = (path: string): Promise<EventSource> => openEvents(`${rig.gateway.url}/${form.toLowerCase()}/api/v2${path}`, headers)
  const create = async (): Promise<string> =>
    ((await rig.client(form).post('/transactions', orderIn(form))).json as { id: string }).id
  const get = async (id: string): Promise<unknown> => JSON.parse((await rig.client(form).get(`/transactions/${id}`)).text)

  test('a change that a get of the same key finds is sent', async () => {
    const id = await create()
    const stream = await open(`/transactions/${id}/events`)
    expect(stream.status).toBe(200)
    await stream.received(1)
    advance({ status: 'success' })
    const found = await get(id)
    expect(await stream.untilEnd()).toBe('whole')
    expect(stream.events.at(-1)?.data).toEqual(found)
  })

  test('each state is what a get returns, with its attention, and so is a hash or a reason alone', async () => {
    const id = await create()
    await get(id)
    const stream = await open(`/transactions/${id}/events`)
    const states = [
      await get(id),
      ...(await Array.fromAsync(['broken', 'frozen', 'confirmation', 'of no table'], async (status) => {
        advance({ status })
        const found = await get(id)
        await expect.poll(() => stream.events.at(-1)?.data).toEqual(found)
        return found
      })),
    ]
    expect(states.map((state) => (state as { attention?: string }).attention)).toEqual([
      undefined,
      'failed',
      'held',
      undefined,
      'unknown_status',
    ])
    const again = await openEvents(stream.url, { ...headers, 'last-event-id': String(stream.events[0]?.id) })
    expect((await again.received(4)).map(({ data }) => data)).toEqual(states.slice(1))
    advance({ status: 'confirmation', txHashIn: 'another-hash' })
    const last = await get(id)
    await expect.poll(() => stream.events.at(-1)?.data).toEqual(last)
  })

  test('a swap that the ledger does not have yet is watched as soon as it has it', async () => {
    const isOpen = Promise.withResolvers<void>()
    await rig[Symbol.asyncDispose]()
    await start((ledger) => ({
      ...ledger,
      async upsert(...facts) {
        await isOpen.promise
        return ledger.upsert(...facts)
      },
    }))
    rig.beta.holdings.swaps = [swap({ id: 'elsewhere', status: 'confirmation', createdAt: new Date().toISOString() })]
    const openedAt = performance.now()
    const stream = await open('/transactions/beta~elsewhere/events')
    isOpen.resolve()
    await stream.received(1)
    advance({ status: 'success' })
    expect(await stream.untilEnd()).toBe('whole')
    expect(performance.now() - openedAt).toBeLessThan(15_000)
    expect(stream.events.at(-1)?.data).toMatchObject({ id: 'beta~elsewhere', status: 'success' })
  })

  test('an account has no stream', async () => {
    const refused = await open('/events')
    expect([refused.status, refused.headers['x-swap-reason']]).toEqual([404, 'path'])
  })
})
