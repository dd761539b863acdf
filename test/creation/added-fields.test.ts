/** docs/contract-operators.md §10.3: what a provider of Form B adds to the response of a create is verified too. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { createdB } from '../support/form-b.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

let managed: Managed
let key: string

beforeAll(async () => {
  managed = await startManaged({ routing: ['beta'] })
})
beforeEach(async () => {
  managed.beta.reset()
  key = await managed.issue()
})
afterAll(() => managed.close())

let created = 0

describe.each(formNames)('form %s', (form) => {
  const createWith = (added: object, facts: object = {}) => {
    managed.beta.reply('create', { status: 200, json: { ...createdB(swap({ id: `added-${created++}` })), ...added } })
    return managed.client(form).post('/transactions', orderIn(form, facts), { key })
  }

  test.each<[string, object]>([
    ['network to', { network_to: 'ETH' }],
    ['unknown network to', { network_to: 'NOWHERE' }],
    ['network from', { network_from: 'LIGHTNING' }],
    ['refund address', { refund_address: 'bc1q-other' }],
  ])('L150: another %s than requested: 502 and no deposit address', async (_, added) => {
    const response = await createWith(added)
    expectRefusal(response, form, 502, 'mismatch')
    expect(response.text).not.toContain('deposit-1')
  })

  test.each<[string, object, object]>([
    [
      'those that were requested',
      { network_from: 'BTC', network_to: 'TRX', refund_address: 'bc1q-r' },
      { refundAddress: 'bc1q-r' },
    ],
    ['an alias of the network', { network_to: 'TRC20' }, {}],
    ['nothing in them', { network_from: null, network_to: '', refund_address: null }, {}],
  ])('L150: %s: the swap, without fields beyond the form', async (_, added, facts) => {
    const { status, json } = await createWith(added, facts)
    expect(status).toBe(form === 'A' ? 201 : 200)
    if (form === 'B') expect(Object.keys(json as object).sort()).toEqual(Object.keys(createdB(swap())).sort())
  })
})
