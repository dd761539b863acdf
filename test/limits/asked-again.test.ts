/** To ask again under an Idempotency-Key is a read (docs/contract.md §7): a client that waits for an outcome uses up no creates. */
import { expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'

const limits = { quotes: 100, create: 3, read: 8, unverified: 100 }
const policyOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  String(headers['ratelimit-policy']).split(';')[0] ?? ''

test.each(formNames)('client %s', async (form) => {
  await using managed: Managed = await startManaged({ routing: ['alpha'], sections: { limits } })
  const { post } = managed.client(form)
  const key = await managed.issue()
  const create = (name: string, amount = '0.10') =>
    post('/transactions', orderIn(form, { amount: digits(amount) }), { key, headers: { 'idempotency-key': name } })

  const first = await create('order-1')
  expect([first.status < 300, policyOf(first)]).toEqual([true, '"create"'])
  for (let count = 0; count < 4; count++) {
    const again = await create('order-1')
    expect([again.text, policyOf(again)]).toEqual([first.text, '"read"'])
  }
  // Another request under the key is one that asks, too.
  const reused = await create('order-1', '0.20')
  expectRefusal(reused, form, 422, 'key_reused')
  expect(policyOf(reused)).toBe('"read"')

  managed.alpha.reply('create', { reset: true })
  expectRefusal(await create('order-2'), form, 504, 'outcome_unknown')
  const waiting = await create('order-2')
  expectRefusal(waiting, form, 409, 'in_progress')
  expect(policyOf(waiting)).toBe('"read"')

  // A refusal leaves the key free: what follows may create.
  managed.alpha.reply('create', { status: 400, json: { error: 'Bad Request', message: 'no', code: 400 } })
  expectRefusal(await create('order-3'), form, 400, 'refused')
  const used = await create('order-3')
  expectRefusal(used, form, 429, 'limited')
  expect(policyOf(used)).toBe('"create"')

  while ((await create('order-1')).status < 300);
  expectRefusal(await create('order-1'), form, 429, 'limited')
})

test('a key that was in progress counts as a create again once its create is refused', async () => {
  await using managed: Managed = await startManaged({ routing: ['alpha'], sections: { limits: { ...limits, create: 20 } } })
  const { post } = managed.client('A')
  const key = await managed.issue()
  const create = () => post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': 'order' } })
  for (let count = 0; count < 2; count++) {
    const refusing = Promise.withResolvers<void>()
    const json = { error: 'Bad Request', message: 'no', code: 400 }
    managed.alpha.reply('create', { status: 400, json, after: refusing.promise })
    const first = create()
    await expect.poll(() => managed.alpha.received('create').length).toBe(count + 1)
    const beside = await create()
    expectRefusal(beside, 'A', 409, 'in_progress')
    refusing.resolve()
    const refused = await first
    expectRefusal(refused, 'A', 400, 'refused')
    expect(policyOf(refused)).toBe('"create"')
  }
})
