/** docs/contract-operators.md §10.3 with issued keys: what a provider reports of a transaction is compared with what was created here. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { depositOf, type Swap, swap } from '../support/swaps.ts'

let managed: Managed
let key: string

const start = async (name: 'alpha' | 'beta', extraIds = false): Promise<void> => {
  managed = await startManaged({
    routing: [name],
    providers: { [name]: { extraIds } },
    sections: { auth: { mode: 'managed' }, routing: { providers: [name] }, ledger: { refreshAfter: 0 } },
  })
  key = await managed.issue()
}
afterEach(() => managed.close())

const headers = (name?: string) => (name === undefined ? {} : { headers: { 'idempotency-key': name } })
const create = (form: FormName = 'A', facts: object = {}, name?: string): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key, ...headers(name) })
const created = async (form: FormName = 'A', facts: object = {}): Promise<string> =>
  ((await create(form, facts)).json as { id: string }).id
const get = (id: string, form: FormName = 'A'): Promise<ReceivedResponse> =>
  managed.client(form).get(`/transactions/${id}`, { key })
const list = (form: FormName = 'A'): Promise<ReceivedResponse> => managed.client(form).get('/transactions', { key })
const row = ({ json }: ReceivedResponse): object | undefined => (json as { data: readonly object[] }).data[0]
const found = (): readonly string[] =>
  managed.gateway.observations
    .filter((observation) => observation.what === 'discrepancy')
    .map(({ provider, field, action }) => `${provider} ${field} ${action}`)
const only = async (): Promise<LedgerEntry> => {
  const [entry, ...others] = await Array.fromAsync(managed.gateway.ledgerAdmin.export())
  expect(others).toEqual([])
  return entry as LedgerEntry
}

const contradictions: readonly [string, object, string][] = [
  ['another coin', { coinFrom: 'ETH' }, 'coinFrom'],
  ['another network', { coinTo: 'USDTERC20' }, 'coinTo'],
  ['another withdrawal address', { withdrawalAddress: 'TOther' }, 'withdrawalAddress'],
  ['a memo that was not requested', { withdrawalExtraId: '77' }, 'withdrawalExtraId'],
  ['another deposit address', { depositAddress: 'bc1q-thief' }, 'depositAddress'],
]

describe('a Form A provider', () => {
  beforeEach(() => start('alpha', true))
  const reports = (facts: object, of: Partial<Swap> = {}): void =>
    managed.alpha.reply('get', () => ({
      json: { ...transactionA(swap({ ...managed.alpha.holdings.swaps[0], status: 'sending', ...of })), ...facts },
    }))

  test.each(contradictions)('L40: that reports %s is not believed: the last known state, with its age', async (_, facts, field) => {
    const id = await created()
    const known = await get(id)
    const before = await only()
    reports(facts)
    for (const form of formNames) {
      const response = await get(id, form)
      expect(response.status).toBe(200)
      expect(response.headers['x-swap-stale']).toMatch(/^\d$/)
      const { depositAddress: _deposit, ...rest } = known.json as Record<string, unknown>
      if (form === 'A') expect(response.json).toEqual(rest)
      expect(response.text).not.toContain(depositOf('tx-1'))
      expect(response.text).not.toContain('sending')
      const listed = await list(form)
      expect(listed.headers['x-swap-stale']).toMatch(/^\d$/)
      expect(row(listed)).toMatchObject({ id, status: 'wait' })
      expect(listed.text).not.toContain('thief')
      expect(listed.text).not.toContain(depositOf('tx-1'))
    }
    expect(await only()).toMatchObject({ transaction: before.transaction, doubt: 'contradicted' })
    expect(new Set(found())).toEqual(new Set([`alpha ${field} rejected`]))
    reports({})
    const after = await get(id)
    expect(after.json).toMatchObject({ status: 'sending', depositAddress: depositOf('tx-1') })
    expect(after.headers).not.toHaveProperty('x-swap-stale')
    expect((await list()).headers).not.toHaveProperty('x-swap-stale')
  })

  test('L40: another memo of the deposit or of the withdrawal is another place to pay to', async () => {
    const json = { ...transactionA(swap({ id: 'memo-1', refundAddress: null })), depositExtraId: '7', withdrawalExtraId: '42' }
    managed.alpha.reply('create', { status: 201, json })
    const id = await created('A', { withdrawalExtraId: '42' })
    for (const facts of [{ depositExtraId: '8' }, { withdrawalExtraId: '43' }]) {
      managed.alpha.reply('get', { json: { ...json, ...facts } })
      const response = await get(id)
      expect(response.json).toMatchObject({ withdrawalExtraId: '42' })
      expect(response.text).not.toContain('deposit')
      expect(response.headers).toHaveProperty('x-swap-stale')
    }
    expect(found()).toEqual(['alpha depositExtraId rejected', 'alpha withdrawalExtraId rejected'])
  })

  test.each<[string, object]>([
    ['nothing of it', { refundAddress: undefined }],
    ['it in other letters, where that is the same', { coinFrom: 'btc', coinTo: 'usdttrc20' }],
  ])('that reports %s is believed', async (_, facts) => {
    const id = await created('A', { refundAddress: 'bc1q-refund-1' })
    reports(facts)
    const response = await get(id)
    expect(response.json).toMatchObject({ status: 'sending', refundAddress: 'bc1q-refund-1', coinTo: 'USDTTRC20' })
    expect(response.headers).not.toHaveProperty('x-swap-stale')
    expect(found()).toEqual([])
  })

  test('another amount is what it is now', async () => {
    const id = await created()
    reports({ amount: 0.09, amountTo: 5_000 })
    expect((await get(id)).text).toContain('"amount":0.09')
    expect(found()).toEqual([])
  })

  test('L42: another refund address or rate type is shown, kept and counted once', async () => {
    const id = await created('A', { refundAddress: 'bc1q-refund-1' })
    reports({ refundAddress: 'bc1q-refund-2', rateType: 'fixed' })
    const response = await get(id)
    expect(response.json).toMatchObject({ status: 'sending', refundAddress: 'bc1q-refund-2', rateType: 'fixed' })
    expect(response.headers).not.toHaveProperty('x-swap-stale')
    expect(row(await list())).toMatchObject({ refundAddress: 'bc1q-refund-2', rateType: 'fixed' })
    expect(await only()).toMatchObject({ transaction: { refundAddress: 'bc1q-refund-2', rateType: 'fixed' } })
    expect(found()).toEqual(['alpha refundAddress accepted', 'alpha rateType accepted'])
  })

  test('L40: a transaction that was bound by hand is compared with the request, and under the key too', async () => {
    managed.alpha.reply('create', { reset: true })
    await create('A', {}, 'order-1')
    managed.alpha.reset()
    managed.alpha.holdings.swaps = [swap({ id: 'bound-1', withdrawalAddress: 'TOther', depositAddress: 'bc1q-thief' })]
    const [open] = await managed.gateway.ledgerAdmin.unresolved()
    expect(await managed.gateway.ledgerAdmin.bind(open?.intent ?? '', 'bound-1', Date.now(), undefined, 'tester')).toBe('bound')
    for (const form of formNames) expectRefusal(await create(form, {}, 'order-1'), form, 502)
    expect((await list()).text).not.toContain('thief')
    expect(found()[0]).toBe('alpha withdrawalAddress rejected')
    managed.alpha.holdings.swaps = [swap({ id: 'bound-1', refundAddress: null, status: 'exchanging' })]
    const replayed = await create('A', {}, 'order-1')
    expect(replayed.json).toMatchObject({ id: 'alpha~bound-1', depositAddress: depositOf('bound-1'), status: 'exchanging' })
    managed.alpha.holdings.swaps = [swap({ id: 'bound-1', depositAddress: 'bc1q-thief' })]
    const later = await create('A', {}, 'order-1')
    expectRefusal(later, 'A', 502)
    expect(later.headers).toMatchObject({ 'x-swap-reason': 'mismatch', 'idempotent-replayed': 'true' })
  })
})

describe('a Form B provider', () => {
  beforeEach(() => start('beta'))
  const reports = (facts: object): void =>
    managed.beta.reply('get', () => ({
      json: { ...detailedB({ ...(managed.beta.holdings.swaps[0] as Swap), status: 'exchanging' }), ...facts },
    }))

  test.each<[string, object]>([
    ['another network', { network_to: 'ETH' }],
    ['an unknown network', { network_to: 'NONET' }],
    ['another coin', { coin_from: 'ETH', network_from: 'ETH' }],
    ['another deposit address', { deposit_address: 'bc1q-thief' }],
  ])('L40: that reports %s is not believed', async (_, facts) => {
    const id = await created('B')
    reports(facts)
    for (const form of formNames) {
      const response = await get(id, form)
      expect(response.headers).toHaveProperty('x-swap-stale')
      expect(response.json).toMatchObject({ status: 'wait' })
      expect(response.text).not.toContain('thief')
    }
  })

  test.each<[string, object]>([
    ['an alias of the network', { network_to: 'TRC20' }],
    ['no networks', { network_from: null, network_to: null }],
  ])('that reports %s is believed', async (_, facts) => {
    const id = await created('A')
    reports(facts)
    const response = await get(id)
    expect(found()).toEqual([])
    expect(response.json).toMatchObject({ status: 'exchanging', coinTo: 'USDTTRC20' })
  })
})
