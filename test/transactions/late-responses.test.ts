/** docs/contract.md §5, §10 in passthrough mode: which responses are accepted, and which of two counts. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB } from '../support/form-b.ts'
import { orderIn } from '../support/managed.ts'
import { client, type FormName, formNames } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { passSteadyTime } from '../support/steady-clock.ts'
import { depositOf, type Swap, swap } from '../support/swaps.ts'

let place: Passthrough
let mine: string
let theirs: string
afterEach(() => place[Symbol.asyncDispose]())

const start = async (routedTo: 'alpha' | 'beta'): Promise<void> => {
  place = await startPassthrough(routedTo)
  mine = await place.gateway.freshKey()
  theirs = await place.gateway.freshKey()
}
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const statusOf = ({ json }: ReceivedResponse): unknown => (json as { status: unknown }).status
const create = (form: FormName, facts: object = {}): Promise<ReceivedResponse> =>
  place.client(form).post('/transactions', orderIn(form, facts), { key: mine })
const get = (form: FormName, id: string, key = mine): Promise<ReceivedResponse> =>
  place.client(form).get(`/transactions/${id}`, { key })
const list = (form: FormName, key = mine): Promise<ReceivedResponse> => place.client(form).get('/transactions', { key })
const rows = ({ json }: ReceivedResponse) => (json as { data: readonly Record<string, unknown>[] }).data
const row = (response: ReceivedResponse) => rows(response)[0]
const change = (facts: Partial<Swap>): void => {
  const { holdings } = place.alpha
  holdings.swaps = holdings.swaps.map((known) => ({ ...known, ...facts }))
}
const entryOf = async (id: string): Promise<LedgerEntry | undefined> => {
  const entries = await Array.fromAsync(place.gateway.ledgerAdmin.export())
  return entries.find(({ provider, transaction }) => `${provider}~${transaction.id}` === id)
}

describe('L38: of two responses about one transaction the one to the later request counts', () => {
  beforeEach(() => start('alpha'))
  /**
   * The provider's next replies, each with its status: requests arrive in this order, and replies are sent when they are
   * released.
   */
  const hold = (operation: 'get' | 'list', ...statuses: readonly string[]) => {
    const [known] = place.alpha.holdings.swaps as [Swap]
    const responses = statuses.map((status) => ({
      json: transactionA({ ...known, status }),
      received: Promise.withResolvers<void>(),
      sent: Promise.withResolvers<void>(),
    }))
    const waiting = responses.values()
    place.alpha.reply(operation, () => {
      const { value } = waiting.next()
      if (!value) return undefined
      value.received.resolve()
      const page = { data: [value.json], pagination: { page: 1, size: 20, total: 1 } }
      return { json: operation === 'get' ? value.json : page, after: value.sent.promise }
    })
    return responses.map(({ received, sent }) => ({ received: received.promise, send: () => sent.resolve() }))
  }

  test.each([
    ['the process', 'its creator'],
    ['the process', 'another key'],
    ['another process', 'its creator'],
  ])('by %s and for %s: after success no client gets exchanging', async (where, who) => {
    const id = idOf(await create('A'))
    const key = who === 'its creator' ? mine : theirs
    if (who !== 'its creator') await get('A', id)
    const [earlier, later] = hold('get', 'exchanging', 'success')
    const slow = get('A', id, key)
    await earlier?.received
    const other = where === 'the process' ? place.client('A') : client('A', (await place.second()).url, place.witness)
    const fast = other.get(`/transactions/${id}`, { key })
    await later?.received
    later?.send()
    expect(statusOf(await fast)).toBe('success')
    if (where !== 'the process') {
      passSteadyTime(150)
      await expect.poll(async () => (await entryOf(id))?.transaction.status).toBe('success')
    }
    earlier?.send()
    expect(statusOf(await slow)).toBe('success')
    place.alpha.reset()
    change({ status: 'exchanging' })
    if (who === 'its creator') {
      expect(statusOf(await get('A', id, key))).toBe('success')
      expect(row(await list('A', key))).toMatchObject({ status: 'success' })
    }
  })

  test('a status that is not final is not overwritten by an earlier response, and an end that comes late stays', async () => {
    const id = idOf(await create('A'))
    for (const [first, second, shown] of [
      ['confirmation', 'exchanging', 'exchanging'],
      ['success', 'exchanging', 'success'],
    ] as const) {
      const [earlier, later] = hold('get', first, second)
      const slow = get('B', id)
      await earlier?.received
      const fast = get('B', id)
      await later?.received
      later?.send()
      expect(statusOf(await fast)).toBe(second)
      earlier?.send()
      expect(statusOf(await slow)).toBe(shown)
    }
    await expect.poll(async () => (await entryOf(id))?.transaction.status).toBe('success')
  })

  test('what another process has brought in the last second counts too', async () => {
    const id = idOf(await create('A'))
    const second = client('A', (await place.second()).url, place.witness)
    expect(statusOf(await get('A', id))).toBe('wait')
    change({ status: 'success' })
    expect(statusOf(await second.get(`/transactions/${id}`, { key: mine }))).toBe('success')
    await expect.poll(async () => (await entryOf(id))?.transaction.status).toBe('success')
    change({ status: 'exchanging' })
    expect(statusOf(await get('A', id))).toBe('success')
  })

  test('a list that was requested before a get does not overwrite the result of the get', async () => {
    const id = idOf(await create('A'))
    const [earlier] = hold('list', 'wait')
    const slow = list('A')
    await earlier?.received
    change({ status: 'success' })
    expect(statusOf(await get('A', id))).toBe('success')
    earlier?.send()
    expect(row(await slow)).toMatchObject({ status: 'success' })
  })

  test('what is read from one key’s list for its next pages is as old as the list', async () => {
    place.alpha.holdings.swaps = ['old-1', 'old-2'].map((id) => swap({ id, status: 'wait' }))
    await place.client('B').get('/transactions?page=1&size=1', { key: mine })
    change({ status: 'exchanging' })
    await get('B', 'alpha~old-2')
    expect(row(await place.client('B').get('/transactions?page=2&size=1', { key: mine }))).toMatchObject({ status: 'exchanging' })
  })
})

test('L38: a final status of another process stays while this one still writes an earlier response', async () => {
  const written = Promise.withResolvers<void>()
  place = await startPassthrough('alpha', {
    ledgerLayer: (own) => ({
      ...own,
      async upsert(owner, provider, facts, before) {
        if (facts.transaction.status === 'confirmation') await written.promise
        return await own.upsert(owner, provider, facts, before)
      },
    }),
  })
  mine = await place.gateway.freshKey()
  const id = idOf(await create('A'))
  const second = client('A', (await place.second()).url, place.witness)
  change({ status: 'confirmation' })
  expect(statusOf(await get('A', id))).toBe('confirmation')
  change({ status: 'success' })
  expect(statusOf(await second.get(`/transactions/${id}`, { key: mine }))).toBe('success')
  await expect.poll(async () => (await entryOf(id))?.transaction.status).toBe('success')
  change({ status: 'exchanging' })
  expect(statusOf(await get('A', id))).toBe('success')
  written.resolve()
})

describe('L40: what the provider reports of what was created here is compared with it', () => {
  beforeEach(() => start('alpha'))
  const reported = (facts: object) => ({ ...transactionA(place.alpha.holdings.swaps[0] as Swap), ...facts })
  const found = (): readonly string[] =>
    place.gateway.observations
      .filter((observation) => observation.what === 'discrepancy')
      .map(({ provider, field, action }) => `${provider} ${field} ${action}`)

  test.each([
    ['another coin', { coinFrom: 'ETH' }, 'coinFrom'],
    ['another network', { coinTo: 'USDTERC20' }, 'coinTo'],
    ['another withdrawal address', { withdrawalAddress: 'TOther' }, 'withdrawalAddress'],
    ['another deposit address', { depositAddress: 'bc1q-thief' }, 'depositAddress'],
  ])('%s is not believed, in a get and in a list, by the key that created it', async (_, facts, field) => {
    const id = idOf(await create('A'))
    const known = await get('A', id)
    const wrong = reported({ ...facts, status: 'sending' })
    place.alpha.reply('get', { json: wrong })
    place.alpha.reply('list', { json: { data: [wrong], pagination: { page: 1, size: 20, total: 1 } } })
    const response = await get('A', id)
    const { depositAddress: _deposit, ...rest } = known.json as Record<string, unknown>
    expect(response.json).toEqual(rest)
    expect(response.headers['x-swap-stale']).toMatch(/^\d$/)
    for (const form of formNames) {
      const listed = await list(form)
      expect(row(listed)).toMatchObject({ id, status: 'wait' })
      expect(listed.headers['x-swap-stale']).toMatch(/^\d$/)
      expect(listed.text).not.toContain('thief')
      expect(listed.text).not.toContain(depositOf('tx-1'))
    }
    expect(found()).toEqual([1, 2, 3].map(() => `alpha ${field} rejected`))
    place.alpha.reset()
    expect(await entryOf(id)).toMatchObject({ transaction: { status: 'wait', depositAddress: depositOf('tx-1') } })
    change({ status: 'sending' })
    expect((await get('A', id)).json).toMatchObject({ status: 'sending', depositAddress: depositOf('tx-1') })
    expect((await get('A', id)).headers).not.toHaveProperty('x-swap-stale')
  })

  test('L42: another refund address is shown, kept and counted once', async () => {
    const id = idOf(await create('A', { refundAddress: 'bc1q-refund-1' }))
    place.alpha.reply('get', { json: reported({ refundAddress: 'bc1q-refund-2', status: 'sending' }) })
    for (let at = 0; at < 2; at++) expect((await get('A', id)).json).toMatchObject({ refundAddress: 'bc1q-refund-2' })
    await expect.poll(async () => (await entryOf(id))?.transaction.refundAddress).toBe('bc1q-refund-2')
    expect(found()).toEqual(['alpha refundAddress accepted'])
  })

  test('a transaction that was created elsewhere is as the provider reports it', async () => {
    place.alpha.holdings.swaps = [swap({ id: 'old-1' })]
    await get('A', 'alpha~old-1')
    place.alpha.reply('get', { json: reported({ depositAddress: 'bc1q-new' }) })
    expect((await get('A', 'alpha~old-1')).json).toMatchObject({ depositAddress: 'bc1q-new' })
    expect(found()).toEqual([])
  })
})

describe('L37: two keys of one account at the provider', () => {
  test.each(['alpha', 'beta'] as const)(
    'one lists the transaction of the other key while its create is in progress (%s)',
    async (name) => {
      await start(name)
      const made = Promise.withResolvers<void>()
      const listRead = Promise.withResolvers<void>()
      const held = swap({ id: 'shared-1', refundAddress: null })
      const provider = place[name]
      provider.reply('create', () => {
        provider.holdings.swaps = [held]
        made.resolve()
        return { json: name === 'alpha' ? transactionA(held) : createdB(held), after: listRead.promise }
      })
      const creating = create('A')
      await made.promise
      for (const form of formNames) expect(row(await list(form, theirs))).toMatchObject({ id: `${name}~shared-1` })
      await expect.poll(() => entryOf(`${name}~shared-1`)).toMatchObject({ isCreated: false })
      listRead.resolve()
      const created = await creating
      expect(created.status).toBe(201)
      expect(created.json).toMatchObject({ id: `${name}~shared-1`, depositAddress: depositOf('shared-1') })
      expect(await entryOf(`${name}~shared-1`)).toMatchObject({ isCreated: true })
      for (const key of [mine, theirs]) {
        expect((await get('A', `${name}~shared-1`, key)).json).toMatchObject({ depositAddress: depositOf('shared-1') })
        expect(rows(await list('A', key))).toHaveLength(1)
      }
      expect(await place.gateway.ledgerAdmin.unresolved()).toEqual([])
    },
  )
})
