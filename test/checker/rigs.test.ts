/** With the records of the rigs the checker detects a broken gateway, ledger or provider. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { depositOfB } from '../support/form-b.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { orderedSwap } from '../support/outcomes.ts'
import { type Client, startPair } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import type { Order } from '../support/swaps.ts'

type Layer = (ledger: Ledger) => Ledger

/** It does not check the owner of a transaction. */
const indiscreet: Layer = (ledger) => {
  const intents = new Map<string, string>()
  const owners = new Map<string, string>()
  const ownerOf = (owner: string, id: string) => owners.get(id) ?? owner
  return {
    ...ledger,
    begin(intent) {
      intents.set(intent.id, intent.owner)
      return ledger.begin(intent)
    },
    complete(intent, facts, judged) {
      owners.set(facts.transaction.id, intents.get(intent) ?? '')
      return ledger.complete(intent, facts, judged)
    },
    find: (owner, provider, id) => ledger.find(ownerOf(owner, id), provider, id),
    findAll: (owner, provider, ids) => ledger.findAll(ownerOf(owner, ids[0] ?? ''), provider, ids),
  }
}
/** It reports that it stored the result. */
const forgetful: Layer = (ledger) => ({ ...ledger, complete: async () => true })
/** It begins a create under a key that was used before. */
const careless: Layer = (ledger) => ({
  ...ledger,
  begin: ({ idempotencyKey: _, ...intent }) => ledger.begin(intent),
  findIdempotencyKey: async () => undefined,
})
/** It remembers another address to pay to. */
const thievish: Layer = (ledger) => ({
  ...ledger,
  async find(...query) {
    const entry = await ledger.find(...query)
    return entry && { ...entry, transaction: { ...entry.transaction, depositAddress: 'thief' } }
  },
})

const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const order = (client: Client, key: string, name = 'order-1'): Promise<ReceivedResponse> =>
  client.post('/transactions', orderIn(client.form), { key, headers: { 'idempotency-key': name } })
/** The invariants that do not hold. */
const broken = (lines: readonly string[]): readonly string[] => [...new Set(lines.map((line) => line.split(':')[0] ?? ''))]

describe('issued keys', () => {
  let managed: Managed
  let mine: string
  let theirs: string
  const start = async (ledgerLayer?: Layer): Promise<Client> => {
    managed = await startManaged({
      ...(ledgerLayer && { ledgerLayer }),
      sections: { auth: { mode: 'managed' }, routing: { providers: ['alpha'] }, ledger: { refreshAfter: 600 } },
    })
    mine = await managed.issue('acme')
    theirs = await managed.issue('globex')
    return managed.client('A')
  }
  afterEach(() => managed.close())

  it('a correct gateway has no violation', async () => {
    const client = await start()
    const id = idOf(await order(client, mine))
    await order(client, theirs)
    await client.get(`/transactions/${id}`, { key: mine })
    await client.get('/transactions', { key: theirs })
    expect(await managed.witness.judge()).toEqual([])
  })

  it('I2, I3: the ledger gives what is of another account', async () => {
    const client = await start(indiscreet)
    const id = idOf(await order(client, mine))
    expect((await client.get(`/transactions/${id}`, { key: theirs })).status).toBe(200)
    const lines = await managed.witness.judge()
    expect(lines).toContain(`I3: a get returned to globex ${id}, which is acme's`)
    expect(lines).toContain(`I2: ${id} was given to globex and is not in its list`)
  })

  it('I2: the ledger does not keep what was created', async () => {
    const id = idOf(await order(await start(forgetful), mine))
    expect(await managed.witness.judge()).toContain(`I2: ${id} was given to acme, and the ledger has it 0 times`)
  })

  it('I1: one key creates twice', async () => {
    const client = await start(careless)
    await order(client, mine)
    await order(client, mine)
    const lines = await managed.witness.judge()
    expect(lines).toContain('I1: alpha~tx-1, alpha~tx-2 for order-1 of acme, where 1 could be')
    expect(lines).toContain('I1: acme received alpha~tx-1 and alpha~tx-2 for one idempotency key')
  })

  it('I11: the ledger has another address to pay to', async () => {
    const client = await start(thievish)
    const id = idOf(await order(client, mine))
    managed.alpha.reply('get', { status: 500, json: {} })
    await client.get(`/transactions/${id}`, { key: mine })
    expect(broken(await managed.witness.judge())).toEqual(['I11'])
  })

  it('I1, I2: a provider makes two of one create', async () => {
    const client = await start()
    managed.alpha.reply('create', ({ body }) => {
      const made = ['one', 'two'].map((id) => orderedSwap(readJson(body) as Order, { id }))
      managed.alpha.holdings.swaps = made
      return { reset: true }
    })
    expect((await order(client, mine)).status).toBe(504)
    const lines = await managed.witness.judge()
    expect(lines).toEqual([
      'I1: alpha~one, alpha~two for order-1 of acme, where 1 could be',
      'I2: alpha~two was created, and no client or row has it',
    ])
  })

  it('I6: what is open at one provider is sent to another', async () => {
    const client = await start()
    managed.alpha.reply('create', { reset: true })
    const response = await order(client, mine)
    const headers = { 'x-request-id': String(response.headers['x-request-id']), 'x-api-key': 'provider-key-beta' }
    const body = managed.alpha.received('create')[0]?.body ?? ''
    managed.beta.reply('create', { status: 400, json: { message: 'no', code: 400 } })
    await sendRequest(managed.beta.origin, {
      method: 'POST',
      path: `${new URL(managed.beta.url).pathname}/transactions`,
      headers,
      body,
    })
    expect(await managed.witness.judge()).toEqual([
      'I6: 2 creates for order-1 of acme were sent, and 1 requested',
      'I6: order-1 of acme went to beta after its outcome at alpha was open',
    ])
  })

  it('an excuse that nothing needs is noticed', async () => {
    await order(await start(), mine)
    managed.witness.excuse('I3', 'For this test.')
    expect(await managed.witness.judge()).toEqual(['I3 was excused, and holds'])
  })
})

describe("the provider's own keys", () => {
  let place: Passthrough
  afterEach(() => place[Symbol.asyncDispose]())

  it('I3: the ledger adds to a response what another key created', async () => {
    place = await startPassthrough('beta', { ledgerLayer: indiscreet })
    const [mine, theirs] = [await place.gateway.freshKey(), await place.gateway.freshKey()]
    await order(place.client('A'), mine)
    place.beta.reply('get', { status: 404, json: { message: 'Transaction not found', code: 404 } })
    expect((await place.client('A').get('/transactions', { key: theirs })).text).toContain(depositOfB('tx-1'))
    expect(await place.witness.judge()).toContain(`I3: a list returned to ${theirs} ${depositOfB('tx-1')}, which is ${mine}'s`)
  })

  it('I2: the ledger does not keep what was created', async () => {
    place = await startPassthrough('alpha', { ledgerLayer: forgetful })
    const key = await place.gateway.freshKey()
    const id = idOf(await order(place.client('B'), key))
    expect(await place.witness.judge()).toContain(`I2: ${id} was given to ${key}, and the ledger has it 0 times`)
  })
})

it('I1: one key creates twice between one client and one provider', async () => {
  const pair = await startPair('B', 'A', { ledgerLayer: careless })
  const key = await pair.gateway.freshKey()
  await order(pair.client, key)
  await order(pair.client, key)
  const lines = await pair.witness.judge()
  await pair.close()
  expect(broken(lines)).toContain('I1')
})

it('records that cannot be checked fail one test, and not those after it', async () => {
  const pair = await startPair('A', 'A')
  vi.spyOn(pair.provider.recorder, 'journal').mockImplementation(() => {
    throw new Error('unreadable')
  })
  await expect(pair.witness.close()).rejects.toThrow('unreadable')
  await expect(pair.witness.judge()).rejects.toThrow('unreadable')
  await pair.gateway.close()
  await pair.provider.close()
  // Were it still watched, it would be judged again now.
})
