/** docs/contract-operators.md §10.2 with the provider's own keys: a client that reads its list after a 504 does not change what is found. */
import { afterEach, describe, expect, test } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import type { UnresolvedCreate } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { expectRefusal } from '../support/expectations.ts'
import { orderIn } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { credential, pairs } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { depositOf, swap } from '../support/swaps.ts'

let place: Passthrough
afterEach(() => place[Symbol.asyncDispose]())

const nameOf = { A: 'alpha', B: 'beta' } as const

describe.each(pairs)('a client of form $client, a provider of form $provider', ({ client: form, provider: side }) => {
  const name = nameOf[side]
  const provider = () => place[name]
  let key: string
  const create = (idempotencyKey = 'order-2'): Promise<ReceivedResponse> =>
    place.client(form).post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': idempotencyKey } })
  const list = (): Promise<ReceivedResponse> => place.client(form).get('/transactions', { key })
  const get = (id: string): Promise<ReceivedResponse> => place.client(form).get(`/transactions/${name}~${id}`, { key })
  const lose = async (): Promise<void> => {
    place = await startPassthrough(name)
    key = await place.gateway.freshKey()
    loseResponses(provider(), { refundAddress: null })
    expectRefusal(await create(), form, 504)
    provider().reply('create', { status: 500, json: {} })
  }
  /** Lists it, and waits until the ledger has it. */
  const waitUntilListed = async (id: string): Promise<void> => {
    expect((await list()).text).toContain(`${name}~${id}`)
    await expect.poll(() => place.gateway.ledger.find(hashKey(key), name, id)).toBeDefined()
  }
  /** As a search does that has found it at another price. */
  const withhold = async (id: string): Promise<void> => {
    const [lost] = await place.gateway.ledger.dueCreates(Number.MAX_SAFE_INTEGER, 1, undefined)
    expect(await place.gateway.ledger.scheduleNextCheck(lost as UnresolvedCreate, undefined, [id], [id])).toBe(true)
  }
  const eventsOf = (id: string): Promise<EventSource> => {
    const url = `${place.gateway.url}/${form.toLowerCase()}/api/v2/transactions/${name}~${id}/events`
    return openEvents(url, credential(form, key))
  }
  const look = async (): Promise<string | undefined> => {
    await lookNow(place.gateway)
    return outcomesOf(place.gateway).at(-1)
  }

  test('L24: the sole match is bound although its owner has read the list and the transaction', async () => {
    await lose()
    await waitUntilListed('lost-1')
    expect((await get('lost-1')).status).toBe(200)
    await waitUntilListed('lost-1')
    expect(await look()).toBe('found')
    const again = await create()
    expect(again.status, again.text).toBe(form === 'A' ? 201 : 200)
    expect(again.json).toMatchObject({ id: `${name}~lost-1` })
    expect((await list()).json).toMatchObject({ data: [{ id: `${name}~lost-1` }] })
  })

  test('L24: of twins none is bound, whichever of them its owner has listed', async () => {
    await lose()
    const [made] = provider().holdings.swaps
    await waitUntilListed('lost-1')
    expect((await get('lost-1')).status).toBe(200)
    provider().holdings.swaps = [made, { ...made, id: 'twin' }] as never
    expect(await look()).toBe('ambiguous')
    expectRefusal(await create(), form, 409)
  })

  test('what a search withholds has no deposit address any more, although its owner had read it before', async () => {
    await lose()
    await waitUntilListed('lost-1')
    const deposit = depositOf('lost-1')
    expect((await get('lost-1')).text).toContain(deposit)
    await expect.poll(async () => (await place.gateway.ledger.find(hashKey(key), name, 'lost-1'))?.fetchedAt).toBeDefined()
    const stream = await eventsOf('lost-1')
    const shown = async (count: number) => {
      const last = (await stream.received(count)).at(-1)
      return [Number(last?.id) - Number(stream.events[0]?.id), JSON.stringify(last).includes(deposit)]
    }
    expect(await shown(1)).toEqual([0, true])
    await withhold('lost-1')
    expect(await shown(2)).toEqual([1, false])
    for (let reads = 0; reads < 3; reads++) {
      const again = await eventsOf('lost-1')
      const texts = [(await get('lost-1')).text, (await list()).text, JSON.stringify((await again.received(1))[0])]
      again.close()
      for (const text of texts)
        expect([text, text]).toEqual([expect.stringContaining('lost-1'), expect.not.stringContaining(deposit)])
    }
    const { ledgerAdmin } = place.gateway
    expect(await ledgerAdmin.markNotCreated((await ledgerAdmin.unresolved())[0]?.intent ?? '', 'ops')).toBe(true)
    expect((await get('lost-1')).text).toContain(deposit)
    expect(await shown(3)).toEqual([2, true])
  })

  test('L24: what a create here is bound to is no candidate for the next', async () => {
    await lose()
    expect(await look()).toBe('found')
    loseResponses(provider(), { id: 'lost-2', refundAddress: null })
    expectRefusal(await create('order-3'), form, 504)
    await waitUntilListed('lost-2')
    expect(await look()).toBe('found')
    provider().reply('create', { status: 500, json: {} })
    expect((await create('order-3')).json).toMatchObject({ id: `${name}~lost-2` })
  })

  test('L24: a list that was read before the create hides nothing', async () => {
    place = await startPassthrough(name)
    key = await place.gateway.freshKey()
    provider().holdings.swaps = [swap({ id: 'old', createdAt: new Date().toISOString(), refundAddress: null })]
    await waitUntilListed('old')
    provider().reply('create', { reset: true })
    expectRefusal(await create(), form, 504)
    expect(await look()).toBe('found')
  })
})
