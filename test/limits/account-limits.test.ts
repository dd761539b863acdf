/** docs/contract.md §7, managed: a limit belongs to an account. */
import { afterEach, expect, test } from 'vitest'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import type { FormName } from '../support/pair.ts'

let managed: Managed
afterEach(() => managed.close())

const start = async (limits: object): Promise<void> => {
  managed = await startManaged({
    sections: {
      auth: { mode: 'managed' },
      routing: { providers: ['alpha'] },
      limits: { quotes: 1_000, create: 1_000, read: 1_000, ...limits },
    },
  })
}
const quote = async (key: string | null, form: FormName = 'A'): Promise<number> =>
  (await managed.client(form).get('/currencies', { key })).status

test('quotes are limited by account if the key is valid, else by address', async () => {
  await start({ quotes: 2 })
  const [acme, successor, globex] = [await managed.issue('acme'), await managed.issue('acme'), await managed.issue('globex')]
  expect([await quote(acme), await quote(successor, 'B'), await quote(acme)]).toEqual([200, 200, 429])
  expect([await quote(globex), await quote(null), await quote('no-such-key'), await quote(null, 'B')]).toEqual([200, 200, 200, 429])
  expect([await quote(globex, 'B'), await quote(globex)]).toEqual([200, 429])
})

test('creates and reads are limited by account, over its keys and both forms', async () => {
  await start({ create: 2, read: 2 })
  const [acme, successor, globex] = [await managed.issue('acme'), await managed.issue('acme'), await managed.issue('globex')]
  const create = async (key: string, form: FormName): Promise<number> =>
    (await managed.client(form).post('/transactions', orderIn(form), { key })).status
  expect([await create(acme, 'A'), await create(successor, 'B'), await create(successor, 'A')]).toEqual([201, 200, 429])
  expect(await create(globex, 'A')).toBe(201)
  const read = async (key: string, form: FormName): Promise<number> =>
    (await managed.client(form).get('/transactions', { key })).status
  expect([await read(acme, 'A'), await read(successor, 'B'), await read(acme, 'B')]).toEqual([200, 200, 429])
  expect(await read(globex, 'B')).toBe(200)
  expect(managed.alpha.received('create')).toHaveLength(3)
})

test('L11: a create over the limit leaves its Idempotency-Key free', async () => {
  await start({ create: 1, window: 1 })
  const key = await managed.issue()
  const create = (name: string) =>
    managed.client('A').post('/transactions', orderIn('A'), { key, headers: { 'idempotency-key': name } })
  expect((await create('order-1')).status).toBe(201)
  expect((await create('order-2')).status).toBe(429)
  await expect.poll(async () => (await create('order-2')).status).toBe(201)
  expect(managed.alpha.received('create')).toHaveLength(2)
})
