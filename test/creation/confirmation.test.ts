/** docs/contract-operators.md §10.2: the provider confirms the request in its list or its get. A missing field confirms nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB, listedB } from '../support/form-b.ts'
import { readJson } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, orderedSwap, outcomesOf } from '../support/outcomes.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { assets, type Order, type Swap } from '../support/swaps.ts'

let managed: Managed
let key: string
afterEach(() => managed.close())

const nameOf = { A: 'alpha', B: 'beta' } as const
const success = { A: 201, B: 200 } as const

interface Accounts {
  /** Added to a row of the list, and to the response of a get. */
  readonly listed?: object
  readonly got?: object
}

describe.each(formNames)('a provider of form %s', (side) => {
  const form: FormName = 'A'
  beforeEach(async () => {
    const name = nameOf[side]
    managed = await startManaged({ routing: [name], providers: { [name]: { extraIds: true } } })
    key = await managed.issue()
  })
  const provider = () => managed[nameOf[side]]
  const create = (facts: object = {}): Promise<ReceivedResponse> =>
    managed.client(form).post('/transactions', orderIn(form, facts), { key, headers: { 'idempotency-key': 'order-2' } })
  const loseResponse = async (order: object, facts: Partial<Swap> = {}): Promise<void> => {
    loseResponses(provider(), facts)
    expectRefusal(await create(order), form, 504)
    provider().reply('create', { status: 500, json: {} })
  }
  const account = ({ listed = {}, got = {} }: Accounts): void => {
    const [made] = provider().holdings.swaps as [Swap]
    const row = { ...(side === 'A' ? transactionA(made) : listedB(made)), ...listed }
    provider().reply('list', { json: { data: [row], count: 1, pagination: { page: 1, size: 100, total: 1 } } })
    provider().reply('get', { json: { ...(side === 'A' ? transactionA(made) : detailedB(made)), ...got } })
  }
  const look = async (): Promise<string | undefined> => {
    await lookNow(managed.gateway)
    return outcomesOf(managed.gateway).at(-1)
  }
  const memoIn = (name: 'withdrawal' | 'refund', memo: string): object =>
    side === 'A' ? { [`${name}ExtraId`]: memo } : { [`${name}_extra_id`]: memo }

  describe.each([
    ['withdrawal', { withdrawalExtraId: 'memo-7' }],
    ['refund', { refundAddress: 'bc1q-refund-9', refundExtraId: 'memo-7' }],
  ] as const)('L22: a %s memo of the request', (what, order) => {
    test.each<[string, Accounts]>([
      ['neither the list nor the get', {}],
      ['only an empty one', { listed: memoIn(what, ''), got: memoIn(what, '') }],
    ])('is confirmed by %s: ambiguous, and never bound', async (_, accounts) => {
      await loseResponse(order)
      account(accounts)
      expect(await look()).toBe('ambiguous')
      expectRefusal(await create(order), form, 409)
      expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'unknown' }])
    })

    const whole: readonly [string, Accounts][] = [['the get', { got: memoIn(what, 'memo-7') }]]
    const byList: readonly [string, Accounts][] = [['the list', { listed: memoIn(what, 'memo-7') }]]
    // A list of form B has no such field.
    test.each(side === 'A' ? [...byList, ...whole] : whole)('is confirmed by %s alone: bound, and shown', async (_, accounts) => {
      await loseResponse(order)
      account(accounts)
      expect(await look()).toBe('found')
      const again = await create(order)
      expect(again.status, again.text).toBe(success[form])
      expect(again.json).toMatchObject(order)
    })

    test('was to be confirmed at once, and no get could be had: the next look confirms it, and the key has the result', async () => {
      provider().reply('create', ({ body }) => {
        const made = orderedSwap(readJson(body) as Order, { id: 'made-1' })
        provider().holdings.swaps = [made]
        return { status: 201, json: side === 'A' ? transactionA(made) : createdB(made) }
      })
      provider().reply('get', { status: 500, json: {} })
      expectRefusal(await create(order), form, 504, 'outcome_unknown')
      expectRefusal(await create(order), form, 409)
      account({ got: memoIn(what, 'memo-7') })
      expect(await look()).toBe('found')
      const again = await create(order)
      expect(again.status, again.text).toBe(success[form])
      expect(again.json).toMatchObject(order)
      expect(provider().received('create')).toHaveLength(1)
    })

    test('is another there: no match', async () => {
      await loseResponse(order)
      account({ got: memoIn(what, 'memo-8') })
      expect(await look()).toBe('notFound')
    })
  })

  test('L22: a reported memo that is not in the request shows another transaction', async () => {
    await loseResponse({})
    account({ got: memoIn('withdrawal', 'memo-7') })
    expect(await look()).toBe('notFound')
  })

  test('L22: a requested refund address that is not reported is ambiguous', async () => {
    await loseResponse({ refundAddress: 'bc1q-refund-9' })
    account(side === 'A' ? { listed: { refundAddress: null }, got: { refundAddress: null } } : { got: { refund_address: null } })
    expect(await look()).toBe('ambiguous')
  })

  test('L22: without one in the request and in the report it is bound', async () => {
    await loseResponse({}, { refundAddress: null })
    expect(await look()).toBe('found')
  })

  test('L67: one that has no deposit address yet is bound when it has one', async () => {
    await loseResponse({}, { refundAddress: null, depositAddress: '' })
    expect(await look()).toBe('ambiguous')
    expectRefusal(await create(), form, 409)
    const [made] = provider().holdings.swaps as [Swap]
    provider().holdings.swaps = [{ ...made, depositAddress: 'bc1q-late' }]
    expect(await look()).toBe('found')
    expect((await create()).json).toMatchObject({ depositAddress: 'bc1q-late' })
  })

  test('a get whose response is about another id confirms nothing', async () => {
    await loseResponse({})
    account({ got: { id: 'another' } })
    expect(await look()).toBe('ambiguous')
  })

  test('a get without what the list has confirms nothing', async () => {
    await loseResponse({})
    provider().reply('get', { status: 404, json: { error: 'Not Found', message: 'no', code: 404 } })
    expect(await look()).toBe('ambiguous')
  })
})

describe('L23: the network of a coin that has several, at a provider of form B', () => {
  const order = { coinFrom: 'USDTTRC20', coinTo: 'BTC', withdrawalAddress: 'bc1q-to-1' }
  const create = (facts: object = order): Promise<ReceivedResponse> =>
    managed.client('A').post('/transactions', orderIn('A', facts), { key, headers: { 'idempotency-key': 'order-2' } })
  const loseResponse = async (facts: object = order): Promise<void> => {
    managed = await startManaged({ routing: ['beta'] })
    key = await managed.issue()
    loseResponses(managed.beta, { refundAddress: null })
    expectRefusal(await create(facts), 'A', 504)
    managed.beta.reply('create', { status: 500, json: {} })
  }
  const silent = (facts: object): void => {
    const [made] = managed.beta.holdings.swaps as [Swap]
    managed.beta.reply('get', { json: { ...detailedB(made), ...facts } })
  }
  const look = async (): Promise<string | undefined> => {
    await lookNow(managed.gateway)
    return outcomesOf(managed.gateway).at(-1)
  }

  test.each([
    ['null', { network_from: null }],
    ['an empty text', { network_from: '' }],
  ])('is %s in the get: ambiguous, and never bound', async (_, facts) => {
    await loseResponse()
    silent(facts)
    expect(await look()).toBe('ambiguous')
    expectRefusal(await create(), 'A', 409)
  })

  test('an ETH deposit is never bound to a request for TRX', async () => {
    await loseResponse()
    const [made] = managed.beta.holdings.swaps as [Swap]
    managed.beta.holdings.swaps = [{ ...made, from: assets.usdtEth }]
    silent({ network_from: null })
    expect(await look()).toBe('ambiguous')
    managed.beta.reply('get', () => undefined)
    expect(await look()).toBe('notFound')
  })

  test('an alias of it is confirmed', async () => {
    await loseResponse()
    silent({ network_from: 'TRON' })
    expect(await look()).toBe('found')
    expect((await create()).json).toMatchObject({ coinFrom: 'USDTTRC20', coinTo: 'BTC' })
  })

  test('a coin with only one network needs no report of it', async () => {
    await loseResponse({ coinFrom: 'BTC', coinTo: 'ETH', withdrawalAddress: 'bc1q-to-1' })
    silent({ network_from: null, network_to: null })
    expect(await look()).toBe('found')
  })
})

describe('L68: a word that only the list of currencies explains, at a provider of form A, is the one that was sent', () => {
  const reason = 'The checker has only the words of the table for assets, and this provider has its own.'
  const words = (usdt: string): readonly object[] =>
    [
      ['BTC', 'BTC'],
      [usdt, 'TRX'],
    ].map(([code, network]) => ({ code, name: code, icon: 'i', network }))
  const create = (): Promise<ReceivedResponse> =>
    managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order-2' } })
  const look = async (): Promise<string | undefined> => {
    await lookNow(managed.gateway)
    return outcomesOf(managed.gateway).at(-1)
  }
  const loseResponse = async (): Promise<void> => {
    managed = await startManaged({ sections: { cache: { currencies: 0, rate: 0, staleFor: 0 }, ledger: { reconcileFor: 1 } } })
    managed.witness.excuse('I4', reason)
    managed.alpha.holdings.currencies = words('USDT')
    key = await managed.issue()
    loseResponses(managed.alpha, { refundAddress: null })
    expectRefusal(await create(), 'A', 504)
    expect(managed.alpha.holdings.swaps).toMatchObject([{ to: { code: 'USDT' } }])
    managed.alpha.reply('create', { status: 500, json: {} })
  }

  test.each<[string, () => void]>([
    ['cannot be read', () => managed.alpha.reply('currencies', { status: 500, json: {} })],
    ['has lost it', () => Object.assign(managed.alpha.holdings, { currencies: words('USDTTRC20') })],
  ])('if that list %s, its create is found', async (_, change) => {
    await loseResponse()
    managed.witness.excuse('I5', reason)
    change()
    expect(await look()).toBe('found')
    expect((await create()).json).toMatchObject({ coinTo: 'USDTTRC20' })
  })

  test('if the list has it on another network, it is another transaction', async () => {
    await loseResponse()
    const [made] = managed.alpha.holdings.swaps as [Swap]
    managed.alpha.holdings.swaps = [{ ...made, to: assets.usdtEth }]
    expect(await look()).toBe('notFound')
  })
})
