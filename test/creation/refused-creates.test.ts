/** docs/contract.md §10: a create that was refused in another form than the provider's own is looked for, and never given to its key. */
import { afterEach, describe, expect, test } from 'vitest'
import { intent } from '../ledger/samples.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits, readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import type { Reply } from '../support/stand-in.ts'
import type { Order } from '../support/swaps.ts'

const nameOf = { A: 'alpha', B: 'beta' } as const
const closing: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Provider = Managed['alpha'] | Managed['beta']

/** From now on the provider creates, and something in front of it refuses. */
function refuseCreated({ reply, holdings }: Provider, refusal: Reply, witness: Managed['witness']): void {
  // For the checker a 502 leaves open whether anything was created.
  if (refusal.status !== 403) witness.excuse('I1', 'the refusal is not the one of the provider')
  reply('create', ({ body }) => {
    holdings.swaps = [...holdings.swaps, orderedSwap(readJson(body) as Order, { id: `made-${holdings.swaps.length + 1}` })]
    return refusal
  })
}

type Place = Pick<Managed, 'gateway'>

const dueOf = ({ gateway: { ledger } }: Place) => ledger.dueRefusedCreates(Number.MAX_SAFE_INTEGER, 10, undefined)

/** The due check is made now; then it is as late as that. */
async function checkNow(place: Place): Promise<void> {
  const { ledger, reconcile } = place.gateway
  for (const create of await dueOf(place)) await ledger.scheduleNextRefusedCheck(create, Date.now())
  await reconcile()
}

const page = '<html><body>Request blocked</body></html>'

describe.each(['A', 'B'] as const)('a provider of form %s', (side) => {
  const name = nameOf[side]
  const start = async (): Promise<Managed> => {
    const managed = await startManaged({ routing: [name] })
    closing.push(() => managed.close())
    return managed
  }
  const create = (managed: Managed, key: string): Promise<ReceivedResponse> =>
    managed.client(side).post('/transactions', orderIn(side), { key, headers: { 'idempotency-key': 'order-1' } })

  test.each<[string, Reply]>([
    ['the page of a firewall', { status: 403, text: page }],
    ['a validation error of another framework', { status: 400, json: { statusCode: 400, message: ['no'], error: 'Bad Request' } }],
    ['nothing', { status: 422, text: '' }],
    ['a 429 of a balancer', { status: 429, text: page }],
  ])('refuses with %s what it created: counted, for a person, and never given to the key', async (_, refusal) => {
    const managed = await start()
    const key = await managed.issue()
    refuseCreated(managed[name], refusal, managed.witness)
    const sentAt = Date.now()
    expect((await create(managed, key)).status).toBeGreaterThanOrEqual(400)
    const refusedAt = Date.now()
    expect(outcomesOf(managed.gateway)).toEqual([])
    const [due] = await dueOf(managed)
    expect(due?.nextCheckAt).toBeGreaterThanOrEqual(sentAt + 5_000)
    expect(due?.nextCheckAt).toBeLessThanOrEqual(refusedAt + 5_000)
    await checkNow(managed)
    expect(outcomesOf(managed.gateway)).toEqual(['foundAfterRefusal'])
    expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([
      { intent: due?.intent, state: 'mismatch', reported: { id: 'made-1', fields: ['refused'] } },
    ])
    expect(await dueOf(managed)).toEqual([])
    const list = await managed.client(side).get('/transactions', { key })
    expect(list.json).toMatchObject({ data: [] })
    expect((await managed.client(side).get(`/transactions/${name}~made-1`, { key })).status).toBe(404)
  })

  test('is looked for, too, where a quote says that the amount is too small', async () => {
    const managed = await start()
    const key = await managed.issue()
    refuseCreated(managed[name], { status: 400, text: page }, managed.witness)
    const order = orderIn(side, { amount: digits('0.0005') })
    expectRefusal(await managed.client(side).post('/transactions', order, { key }), side, 400, 'below_minimum')
    await checkNow(managed)
    expect(outcomesOf(managed.gateway)).toEqual(['foundAfterRefusal'])
  })

  test('its key is free, and the next create under it is another one', async () => {
    const managed = await start()
    const key = await managed.issue()
    refuseCreated(managed[name], { status: 400, text: page }, managed.witness)
    expectRefusal(await create(managed, key), side, 400)
    managed[name].reset()
    const next = await create(managed, key)
    expect([200, 201]).toContain(next.status)
    expect(next.headers['idempotent-replayed']).toBeUndefined()
    await checkNow(managed)
    expect(outcomesOf(managed.gateway)).toEqual(['foundAfterRefusal'])
    expect((await create(managed, key)).text).toBe(next.text)
  })

  test('without anything in the list there are two checks', async () => {
    const managed = await start()
    const key = await managed.issue()
    managed[name].reply('create', { status: 400, text: page })
    expectRefusal(await create(managed, key), side, 400)
    await checkNow(managed)
    const [second] = await dueOf(managed)
    expect((second?.nextCheckAt ?? 0) - (second?.attemptedAt ?? 0)).toBe(120_000)
    expect(managed[name].received('list').length).toBeGreaterThan(0)
    expect(outcomesOf(managed.gateway)).toEqual([])
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  test('the second check is the last one, also of a create that another process sent', async () => {
    const managed = await start()
    const { ledger, reconcile } = managed.gateway
    const sent = intent({ provider: name, attemptedAt: Date.now() - 120_000 })
    await ledger.begin(sent)
    await ledger.drop(sent.id, Date.now())
    await reconcile()
    expect(managed[name].received('list').length).toBeGreaterThan(0)
    expect(await dueOf(managed)).toEqual([])
  })

  test('several that may be it are counted and listed for a person by the last check, with where the create was sent', async () => {
    const managed = await start()
    const key = await managed.issue()
    refuseCreated(managed[name], { status: 400, text: page }, managed.witness)
    managed.witness.excuse('I2', 'A person must say which of the two it is.')
    expectRefusal(await create(managed, key), side, 400)
    managed[name].holdings.swaps = managed[name].holdings.swaps.flatMap((made) => [made, { ...made, id: 'made-2' }])
    const { ledger, ledgerAdmin, reconcile } = managed.gateway
    await checkNow(managed)
    expect([outcomesOf(managed.gateway), await ledgerAdmin.unresolved()]).toEqual([[], []])
    const [due] = await dueOf(managed)
    if (!due) throw new Error('no check is due')
    expect(due.destination).toMatchObject({ form: side })
    // The same create, two minutes later.
    await ledger.scheduleNextRefusedCheck(due, undefined)
    const { owner, requested, destination } = due
    const attemptedAt = due.attemptedAt - 120_000
    const sent = intent({ id: `${name}-older`, provider: name, owner, requested, destination, attemptedAt, deadline: 1 })
    await ledger.begin(sent)
    await ledger.drop(sent.id, Date.now())
    await reconcile()
    expect(outcomesOf(managed.gateway)).toEqual(['foundAfterRefusal'])
    const [kept] = await ledgerAdmin.unresolved()
    expect(kept).toMatchObject({ intent: sent.id, state: 'mismatch', deadline: 1 })
    expect(kept?.candidates?.toSorted()).toEqual(['made-1', 'made-2'])
    expect(await ledger.unresolvedBetween(name, 0, Date.now())).toMatchObject([{ destination: due.destination }])
    expect(await dueOf(managed)).toEqual([])
    expect((await managed.client(side).get('/transactions', { key })).json).toMatchObject({ data: [] })
  })

  test('a check that fails is made again', async () => {
    const managed = await start()
    const { ledger, reconcile } = managed.gateway
    const sent = intent({ provider: name, attemptedAt: Date.now() - 120_000 })
    await ledger.begin(sent)
    await ledger.drop(sent.id, Date.now())
    managed[name].reply('list', { status: 500, json: {} })
    await reconcile()
    expect(await dueOf(managed)).toMatchObject([{ intent: sent.id }])
  })

  test("a refusal of its own form is the provider's, and nothing is looked for", async () => {
    const managed = await start()
    const key = await managed.issue()
    const json = { A: { error: 'Bad Request', message: 'no', code: 400 }, B: { message: 'no', code: 400 } }[side]
    managed[name].reply('create', { status: 400, json })
    expectRefusal(await create(managed, key), side, 400)
    expect(await dueOf(managed)).toEqual([])
  })
})

test('with the keys of clients a refused create is looked for with the key of its client', async () => {
  const place: Passthrough = await startPassthrough('alpha')
  closing.push(() => place[Symbol.asyncDispose]())
  const key = await place.gateway.freshKey()
  refuseCreated(place.alpha, { status: 400, text: page }, place.witness)
  expectRefusal(await place.client('A').post('/transactions', orderIn('A'), { key }), 'A', 400)
  place.alpha.journal.length = 0
  await checkNow(place)
  expect(place.alpha.received('list')[0]?.headers.authorization).toBe(`Bearer ${key}`)
  expect(outcomesOf(place.gateway)).toEqual(['foundAfterRefusal'])
})
