/** docs/contract.md §18.2: streams of changes, in both forms. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { facts } from '../ledger/samples.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'
import { depositOf } from '../support/swaps.ts'

let managed: Managed
let key: string

const start = async (limits: object = {}): Promise<void> => {
  const most = { quotes: 100_000, create: 100_000, read: 100_000, unverified: 100_000 }
  managed = await startManaged({
    sections: {
      auth: { mode: 'managed' },
      ledger: { refreshAfter: 0 },
      limits: { ...most, ...limits },
      routing: { providers: ['alpha'] },
    },
  })
  key = await managed.issue()
}
beforeEach(() => start())
afterEach(() => managed.close())

/** What the provider reports from now on of all swaps. */
const advance = (facts: object): void => {
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((known) => ({ ...known, ...facts }))
}

describe.each(formNames)('form %s', (form) => {
  const keyHeader = (own = key): Record<string, string> =>
    form === 'A' ? { authorization: `Bearer ${own}` } : { 'x-api-key': own }
  const at = (path: string): string => `${managed.gateway.url}/${form.toLowerCase()}/api/v2${path}`
  const create = async (own = key): Promise<string> =>
    ((await managed.client(form).post('/transactions', orderIn(form), { key: own })).json as { id: string }).id
  const get = (id: string, own = key) => managed.client(form).get(`/transactions/${id}`, { key: own })
  const watch = (id: string, headers: Record<string, string> = {}): Promise<EventSource> =>
    openEvents(at(`/transactions/${id}/events`), { ...keyHeader(), ...headers })
  const watchAll = (headers: Record<string, string> = {}): Promise<EventSource> =>
    openEvents(at('/events'), { ...keyHeader(), ...headers })
  /** A change that a get of the client finds. */
  const change = async (id: string, facts: object): Promise<void> => {
    advance(facts)
    await get(id)
  }
  const statusesOf = ({ events }: EventSource): readonly unknown[] => events.map(({ data }) => (data as { status?: string }).status)

  test('a swap: its state at once, then each change, as a get returns them, and its end', async () => {
    const id = await create()
    const stream = await watch(id)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-swap-form': form,
      'x-swap-provider': 'alpha',
    })
    const [first] = await stream.received(1)
    expect(first).toEqual({ event: 'transaction', id: '1', data: JSON.parse((await get(id)).text) })
    await change(id, { status: 'confirmation' })
    await stream.received(2)
    await change(id, { status: 'success' })
    const events = await stream.received(3)
    expect(events.map((event) => event.id)).toEqual(['1', '2', '3'])
    expect(events[2]?.data).toEqual(JSON.parse((await get(id)).text))
    expect(await stream.untilEnd()).toBe('whole')
    expect(statusesOf(stream)).toEqual(['wait', 'confirmation', 'success'])
  })

  test('a get that changes nothing sends nothing', async () => {
    const id = await create()
    const stream = await watch(id)
    await stream.received(1)
    for (let times = 0; times < 3; times++) await get(id)
    await change(id, { status: 'exchanging' })
    await stream.received(2)
    expect(statusesOf(stream)).toEqual(['wait', 'exchanging'])
  })

  test('resumed: every missed row as it was then; nothing at once if none was missed; what is no number counts as none', async () => {
    const id = await create()
    for (const status of ['confirmation', 'exchanging']) await change(id, { status })
    const missed = await watch(id, { 'last-event-id': '1' })
    await missed.received(2)
    expect(statusesOf(missed)).toEqual(['confirmation', 'exchanging'])
    const whole = await watch(id, { 'last-event-id': '0' })
    await whole.received(3)
    expect(statusesOf(whole)).toEqual(['wait', 'confirmation', 'exchanging'])
    const current = await watch(id, { 'last-event-id': '3' })
    await change(id, { status: 'overdue' })
    await current.received(1)
    expect([statusesOf(current), current.events[0]?.id]).toEqual([['overdue'], '4'])
    for (const none of ['99', '-1', '00', 'x', '1e1', '1.0', '99999999999999999999']) {
      const fresh = await watch(id, { 'last-event-id': none })
      await fresh.received(1)
      expect([none, statusesOf(fresh)]).toEqual([none, ['overdue']])
      fresh.close()
    }
  })

  test('after the end: its last state and the end; 204 for who has seen that', async () => {
    const id = await create()
    await change(id, { status: 'success' })
    const late = await watch(id)
    expect(await late.untilEnd()).toBe('whole')
    expect([statusesOf(late), late.events[0]?.id]).toEqual([['success'], '2'])
    const resumed = await watch(id, { 'last-event-id': '1' })
    expect(await resumed.untilEnd()).toBe('whole')
    expect(statusesOf(resumed)).toEqual(['success'])
    const seen = await watch(id, { 'last-event-id': '2' })
    expect([seen.status, seen.headers['content-type'], seen.text()]).toEqual([204, undefined, ''])
  })

  test('overdue is no end: a late deposit revives the swap', async () => {
    const id = await create()
    await change(id, { status: 'overdue' })
    const stream = await watch(id)
    await stream.received(1)
    await change(id, { status: 'refunded' })
    expect(await stream.untilEnd()).toBe('whole')
    expect(statusesOf(stream)).toEqual(['overdue', 'refunded'])
  })

  test('what an operator settles is an end', async () => {
    const id = await create()
    await change(id, { status: 'failed' })
    const stream = await watch(id)
    expect(await stream.received(1)).toMatchObject([{ data: { attention: 'unknown_status' } }])
    await managed.gateway.ledgerAdmin.settle(
      'alpha',
      id.slice('alpha~'.length),
      { status: 'overdue', note: 'x', at: Date.now() },
      'alice',
    )
    expect(await stream.untilEnd()).toBe('whole')
    expect(statusesOf(stream).at(-1)).toBe('overdue')
  })

  test('of an account: all its swaps from now on, in order, and no others', async () => {
    const before = await create()
    const stream = await watchAll()
    const other = await managed.issue()
    await create(other)
    const id = await create()
    await change(before, { status: 'confirmation' })
    await get(id)
    const events = await stream.received(3)
    expect(events.map(({ data }) => [(data as { id: string }).id, (data as { status: string }).status])).toEqual([
      [id, 'wait'],
      [before, 'confirmation'],
      [id, 'confirmation'],
    ])
    expect(events.map((event) => event.id)).toEqual(['2', '3', '4'])
    const resumed = await watchAll({ 'last-event-id': '1' })
    expect(await resumed.received(3)).toEqual(events)
    expect([stream.ended(), resumed.ended()]).toEqual([undefined, undefined])
  })

  test('of an account: the id of now comes first, without an event; who goes on from there misses no change', async () => {
    for (const now of ['0', '1']) {
      const stream = await watchAll()
      await expect.poll(stream.lastEventId).toBe(now)
      stream.close()
      const id = await create()
      const resumed = await watchAll({ 'last-event-id': now })
      const [missed] = await resumed.received(1)
      expect(missed).toMatchObject({ event: 'transaction', id: String(Number(now) + 1), data: { id, status: 'wait' } })
      expect(stream.events).toEqual([])
    }
    for (const none of ['99', 'x']) {
      const stream = await watchAll({ 'last-event-id': none })
      await expect.poll(stream.lastEventId).toBe('2')
      expect(stream.events).toEqual([])
    }
  })

  test('of an account: no gap for who has seen all that is gone', async () => {
    const id = await create()
    const stream = await watchAll()
    await expect.poll(stream.lastEventId).toBe('1')
    await change(id, { status: 'success' })
    const { events, retention } = managed.gateway.stores()
    while ((await events.number()).mayBeMore);
    await retention.eventsStep(-86_400_000)
    const resumed = await watchAll({ 'last-event-id': '1' })
    expect(await resumed.received(1)).toMatchObject([{ event: 'transaction', id: '2', data: { id } }])
  })

  test('of an account: the id of now after a restore is a number that only changes after it follow', async () => {
    const id = await create()
    const { events } = managed.gateway.stores()
    while ((await events.number()).mayBeMore);
    await managed.gateway.restores.mark(['alpha'], Date.now() - 1, 'alice')
    await managed.gateway.restores.end(undefined, 'nothing is missing', 'alice')
    const fresh = await watchAll()
    await expect.poll(() => Number(fresh.lastEventId())).toBeGreaterThan(1_000_000_000)
    const now = String(fresh.lastEventId())
    const unchanged = await watchAll({ 'last-event-id': now })
    await change(id, { status: 'confirmation' })
    for (const stream of [fresh, unchanged, await watchAll({ 'last-event-id': now })])
      expect((await stream.received(1)).map((event) => [event.event, event.id])).toEqual([['transaction', String(Number(now) + 1)]])
  })

  test('rows that are gone are a gap', async () => {
    const id = await create()
    await change(id, { status: 'confirmation' })
    await change(id, { status: 'success' })
    const { events, retention } = managed.gateway.stores()
    while ((await events.number()).mayBeMore);
    await retention.eventsStep(-86_400_000)
    const stream = await watchAll({ 'last-event-id': '1' })
    expect(await stream.received(2)).toMatchObject([
      { event: 'gap', id: undefined, data: {} },
      { event: 'transaction', id: '3', data: { id, status: 'success' } },
    ])
  })

  test('rows that are gone behind one that is kept are a gap too', async () => {
    await create()
    const ended = await create()
    await change(ended, { status: 'success' })
    const { events, retention } = managed.gateway.stores()
    while ((await events.number()).mayBeMore);
    await retention.eventsStep(-86_400_000)
    const stream = await watchAll({ 'last-event-id': '1' })
    expect(await stream.received(2)).toMatchObject([
      { event: 'gap', id: undefined, data: {} },
      { event: 'transaction', id: '3', data: { id: ended, status: 'success' } },
    ])
  })

  test('rows that went with their swap, and are the last ones, are a gap at once', async () => {
    await create()
    const { events, ledger, ledgerAdmin } = managed.gateway.stores()
    const [{ owner } = { owner: '' }] = await ledger.leaseOpen('alpha', 1, 0)
    const ended = await ledger.upsert(owner, 'alpha', facts('ended', { status: 'sending' }, { sequence: 1 }))
    await ledger.upsert(owner, 'alpha', facts('ended', { status: 'success' }, { sequence: 2 }), ended)
    while ((await events.number()).mayBeMore);
    await ledgerAdmin.prune(Date.now() + 60_000, 'alice')
    const stream = await watchAll({ 'last-event-id': '1' })
    expect(await stream.received(1)).toEqual([{ event: 'gap', id: undefined, data: {} }])
    await expect.poll(stream.lastEventId).toBe('3') // or each new connection would have the gap again
    const upToDate = await watchAll({ 'last-event-id': '3' })
    const latest = await create()
    expect((await stream.received(2))[1]).toMatchObject({ id: '4', data: { id: latest } })
    expect(await upToDate.received(1)).toMatchObject([{ event: 'transaction', id: '4' }])
  })

  test('what was told after a backup has numbers that no other change gets after its restore', async () => {
    const after = await create()
    const { events } = managed.gateway.stores()
    while ((await events.number()).mayBeMore);
    await managed.gateway.restores.mark(['alpha'], Date.now() - 1, 'alice')
    await managed.gateway.restores.end(undefined, 'nothing is missing', 'alice')
    await change(after, { status: 'confirmation' })
    const stream = await watchAll({ 'last-event-id': '1' })
    const [gap, event] = await stream.received(2)
    expect(gap?.event).toBe('gap')
    expect(event?.data).toMatchObject({ id: after })
    expect(Number(event?.id)).toBeGreaterThan(1_000_000_000)
    const between = await watchAll({ 'last-event-id': '999' })
    expect((await between.received(2)).map(({ event: name, id }) => [name, id])).toEqual([
      ['gap', undefined],
      ['transaction', event?.id],
    ])
    const above = await watchAll({ 'last-event-id': String(Number(event?.id) + 7) })
    await change(after, { status: 'sending' })
    expect((await above.received(2)).map(({ event: name, data }) => [name, data])).toMatchObject([
      ['gap', {}],
      ['transaction', { id: after }],
    ])
    const ofIt = await watch(after, { 'last-event-id': '40' })
    expect((await ofIt.received(3)).map(({ event: name }) => name)).toEqual(['gap', 'transaction', 'transaction'])
    const ahead = await watch(after, { 'last-event-id': '9007199254740000' })
    expect((await ahead.received(2)).map(({ event: name }) => name)).toEqual(['gap', 'transaction'])
  })

  test('a row of before has no deposit address where that may not be paid any more', async () => {
    await create()
    const id = await create()
    const depositAddress = depositOf(id.split('~')[1] ?? '')
    const resume = async (open: () => Promise<EventSource>): Promise<string> => {
      const stream = await open()
      const [row] = await stream.received(1)
      stream.close()
      return JSON.stringify(row?.data)
    }
    const ofAll = () => watchAll({ 'last-event-id': '1' })
    for (const open of [ofAll, () => watch(id)]) expect(await resume(open)).toContain(depositAddress)
    const { ledger, ledgerAdmin } = managed.gateway.stores()
    const { entry } = (await ledgerAdmin.findTransaction('alpha', id.split('~')[1] ?? '')) ?? {}
    if (!entry) throw new Error('It is not there.')
    const later = { ...entry, doubt: 'contradicted' as const, sequence: (entry.sequence ?? 0) + 1 }
    await ledger.upsert(entry.owner, 'alpha', later, entry)
    expect(await resume(ofAll)).not.toContain(depositAddress)
  })

  test('errors before the head are those of a get', async () => {
    const id = await create()
    const foreign = await managed.issue()
    for (const [path, own] of [
      [id, foreign],
      ['alpha~none', key],
      ['none', key],
    ] as const) {
      const stream = await openEvents(at(`/transactions/${path}/events`), keyHeader(own))
      const { status, text, headers } = await get(path, own)
      await stream.untilEnd()
      expect([stream.status, stream.text(), stream.headers['x-swap-reason']]).toEqual([status, text, headers['x-swap-reason']])
    }
    for (const path of [`/transactions/${id}/events`, '/events']) {
      const refused = await openEvents(at(path), keyHeader('unknown'))
      expect([refused.status, refused.headers['x-swap-reason']]).toEqual([401, 'key_invalid'])
      expect((await openEvents(at(path))).status).toBe(401)
      expect((await openEvents(at(`${path}?x=1`), keyHeader())).status).toBe(400)
    }
  })

  test('it is charged once to the read limit; more streams than its share are 429 for an identity, and no other', async () => {
    await managed.close()
    await start({ read: 5, streams: 2 })
    const id = await create()
    const streams = [await watch(id), await watchAll()]
    expect(streams[1]?.headers.ratelimit).toMatch(/;r=3;/)
    const refused = await watchAll()
    await refused.untilEnd()
    expect([refused.status, refused.headers['x-swap-reason'], refused.headers['retry-after']]).toEqual([429, 'limited', '5'])
    expect((await openEvents(at('/events'), keyHeader(await managed.issue()))).status).toBe(200)
    streams[0]?.close()
    await expect.poll(async () => (await get(id)).status).toBe(200)
    await expect.poll(async () => (await watchAll()).status).toBe(200)
  })

  test('a dry run refuses no stream, whatever the limit of the account is', async () => {
    await managed.close()
    await start({ streams: 1, dryRun: true })
    await managed.gateway.accounts.changeLimits('account-1', { streams: 1 }, Date.now(), 'alice')
    const streams = [await watchAll(), await watchAll(), await watchAll()]
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('a stream ends when its key does', async () => {
    const id = await create()
    const streams = [await watch(id), await watchAll()]
    const [issued] = (await managed.gateway.accounts.listKeys()).toReversed()
    await managed.gateway.accounts.revokeKey(issued?.id ?? '', Date.now(), 'alice')
    const revokedAt = performance.now()
    for (const stream of streams) expect(await stream.untilEnd()).toBe('whole')
    expect(performance.now() - revokedAt).toBeLessThan(15_000)
  })

  test('HEAD has the head, OPTIONS the methods, and other methods are 405', async () => {
    const id = await create()
    const { gateway } = managed
    const path = `/${form.toLowerCase()}/api/v2/transactions/${id}/events`
    const sent = async (method: string) => await fetch(gateway.url + path, { method, headers: keyHeader() })
    const head = await sent('HEAD')
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const get = await sent('GET')
    await get.body?.cancel()
    const differing = ['date', 'x-request-id', 'ratelimit', 'connection', 'keep-alive', 'transfer-encoding']
    const headOf = ({ headers }: Response) => [...headers].filter(([name]) => !differing.includes(name))
    expect(headOf(head)).toEqual(headOf(get))
    expect(head.headers.has('content-length')).toBe(false)
    expect((await sent('OPTIONS')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect((await sent('DELETE')).status).toBe(405)
  })

  test('amounts are texts for who prefers that', async () => {
    const stream = await watch(await create(), { prefer: 'amounts=text' })
    expect(await stream.received(1)).toMatchObject([{ data: { [form === 'A' ? 'amount' : 'amount_in']: '0.10' } }])
  })
})

test('the other form has the same rows under the same numbers', async () => {
  const id = ((await managed.client('A').post('/transactions', orderIn('A'), { key })).json as { id: string }).id
  const streams = await Promise.all([
    openEvents(`${managed.gateway.url}/a/api/v2/transactions/${id}/events`, { authorization: `Bearer ${key}` }),
    openEvents(`${managed.gateway.url}/api/v2/transactions/${id}/events`, { 'x-api-key': key }),
  ])
  advance({ status: 'exchanging' })
  await managed.client('B').get(`/transactions/${id}`, { key })
  const [inA, inB] = await Promise.all(streams.map((stream) => stream.received(2)))
  expect(inA?.map(({ id }) => id)).toEqual(inB?.map(({ id }) => id))
  expect(streams.map(({ headers }) => headers['x-swap-form'])).toEqual(['A', 'B'])
  expect(inB?.[1]?.data).toMatchObject({ id, coin_from: 'BTC' })
})
