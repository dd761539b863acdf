/** docs/contract.md §10.1: an operator may require an `Idempotency-Key` of each create. */
import { expect, test } from 'vitest'
import { forms } from '../../src/forms/index.ts'
import { preparePages } from '../../src/process/pages.ts'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'

const sections = { creates: { requireIdempotencyKey: true } }

test.each(formNames)(
  'client %s: a create without a key is refused before anything is sent; quotes and gets need none',
  async (form) => {
    await using managed = await startManaged({ sections })
    const { post, get } = managed.client(form)
    const key = await managed.issue()
    const refused = await post('/transactions', orderIn(form), { key })
    expectRefusal(refused, form, 400, 'idempotency_key_missing')
    expect(refused.text).toContain('Idempotency-Key')
    expect(managed.alpha.received('create')).toEqual([])
    const created = await post('/transactions', orderIn(form), { key, headers: { 'idempotency-key': 'order' } })
    expect(created.status, created.text).toBe(form === 'A' ? 201 : 200)
    const { id } = created.json as { readonly id: string }
    expect((await get(`/transactions/${id}`, { key })).status).toBe(200)
  },
)

test('Exolix clients, which know no such header, create without one', async () => {
  await using managed = await startManaged({ sections })
  for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const)
    managed.witness.excuse(invariant, 'The checker has no client of this form.')
  const authorization = await managed.issue()
  const { coinFrom, networkFrom, coinTo, networkTo, withdrawalAddress } = orderIn('B') as Record<string, string>
  const order = { coinFrom, networkFrom, coinTo, networkTo, withdrawalAddress, amount: digits('0.10'), rateType: 'float' }
  const created = await sendRequest(managed.gateway.url, {
    method: 'POST',
    path: '/exolix/api/v2/transactions',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  expect(created.status, created.text).toBe(201)
})

test.each([
  ['a', true, true],
  ['exolix', true, undefined],
  ['a', false, undefined],
])('the description of form %s, where a key is required (%s), says so: %s', async (mount, requireIdempotencyKey, required) => {
  await using managed = await startManaged({ sections: { creates: { requireIdempotencyKey } } })
  const page = preparePages(forms)(managed.gateway.config).get(`/${mount}/openapi.json`)
  expect(JSON.parse(Buffer.from(page?.content('').bytes ?? []).toString()).components.parameters.IdempotencyKey.required).toBe(
    required,
  )
})
