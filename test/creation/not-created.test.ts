/** docs/contract-operators.md §10.2: a create of unknown outcome ends as not created when its time is over and the provider's whole list has nothing for it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { formNames } from '../support/pair.ts'

const nameOf = { A: 'alpha', B: 'beta' } as const

let managed: Managed
let key: string
/** How much later the looks are than the creates, by the wall clock. */
let jumpMs = 0
beforeEach(() => {
  jumpMs = 0
})
afterEach(() => managed.close())

function jumping(own: Ledger): Ledger {
  const due: Ledger['dueCreates'] = async (...query) =>
    (await own.dueCreates(...query)).map((open) => ({ ...open, attemptedAt: open.attemptedAt - jumpMs }))
  return { ...own, dueCreates: due }
}

describe.each(formNames)('a provider of form %s', (side) => {
  const provider = () => managed[nameOf[side]]
  const create = (): Promise<ReceivedResponse> =>
    managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order-2' } })
  const start = async (reconcileFor: number): Promise<void> => {
    managed = await startManaged({ routing: [nameOf[side]], sections: { ledger: { reconcileFor } }, ledgerLayer: jumping })
    key = await managed.issue()
  }
  const look = async (): Promise<string | undefined> => {
    await lookNow(managed.gateway)
    return outcomesOf(managed.gateway).at(-1)
  }

  test('L28: its key is free, and a new create is sent under it', async () => {
    await start(1)
    provider().reply('create', { reset: true })
    expectRefusal(await create(), 'A', 504)
    expect(await look()).toBe('notFound')
    expectRefusal(await create(), 'A', 409)
    jumpMs = 1_000
    expect(await look()).toBe('notCreated')
    expect(await managed.gateway.ledgerAdmin.unresolved()).toEqual([])
    provider().reply('create', () => undefined)
    expect((await create()).status).toBe(201)
    expect((await create()).headers['idempotent-replayed']).toBe('true')
  })

  test.each<[string, Parameters<typeof loseResponses>[1], readonly `I${number}`[]]>([
    ['a time that is hours off', { createdAt: new Date(Date.now() - 5 * 3_600_000).toISOString() }, []],
    ['an amount with other last digits', { amountIn: digits('0.1000000001') }, ['I4']],
    ['another spelling of its address', { withdrawalAddress: 'TWITHDRAW1' }, ['I2', 'I4']],
  ])('it waits for a person while the list has what may be its own: with %s', async (_, facts, invariants) => {
    await start(1)
    for (const invariant of invariants) managed.witness.excuse(invariant, 'The provider writes the order in its own way.')
    loseResponses(provider(), { refundAddress: null, ...facts })
    expectRefusal(await create(), 'A', 504)
    jumpMs = 1_000
    expect(await look()).toBe('ambiguous')
    expectRefusal(await create(), 'A', 409)
    expect(await managed.gateway.ledgerAdmin.unresolved()).toMatchObject([{ state: 'unknown', candidates: ['lost-1'] }])
  })

  test.each<[string, () => void, string]>([
    ['with a candidate', () => {}, 'ambiguous'],
    ['without a whole list', () => provider().reply('list', { status: 500, json: {} }), 'lookupFailed'],
    [
      'with a list that breaks off',
      () => provider().reply('list', { json: { data: [], count: 1, pagination: { page: 1, size: 100, total: 1 } } }),
      'lookupFailed',
    ],
  ])('L28: %s it stays unknown, and its key is 409', async (_, change, outcome) => {
    await start(1)
    loseResponses(provider(), { refundAddress: null })
    expectRefusal(await create(), 'A', 504)
    const [made] = provider().holdings.swaps
    provider().holdings.swaps = [made, { ...made, id: 'twin' }] as never
    change()
    jumpMs = 1_000
    expect(await look()).toBe(outcome)
    expectRefusal(await create(), 'A', 409)
  })

  test('L28: a wall clock that jumps a day ahead ends nothing', async () => {
    await start(86_400)
    provider().reply('create', { reset: true })
    expectRefusal(await create(), 'A', 504)
    jumpMs = 2 * 86_400_000
    expect(await look()).toBe('notFound')
    expectRefusal(await create(), 'A', 409)
  })
})
