/** docs/contract-operators.md §12: `X-Swap-Provider` in a request chooses the provider. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { credential, type FormName, formNames, rateQuery } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
let key: string
const providers = ['alpha', 'beta']
const routing = { providers, pick: ['beta'] }
beforeEach(async () => {
  managed = await startManaged({ sections: { routing } })
  key = await managed.issue()
})
afterEach(() => managed.close())

type Headers = Readonly<Record<string, string>>
const picking = (pick: string): Headers => ({ 'x-swap-provider': pick })
const quoteOf = (form: FormName): string => rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '1' })
const rate = (form: FormName, headers: Headers = {}, by: string | null = key): Promise<ReceivedResponse> =>
  managed.client(form).get(quoteOf(form), { key: by, headers })
const create = (form: FormName, headers: Headers = {}, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key, headers })
const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
const varyOf = ({ headers }: ReceivedResponse): readonly string[] => (headers.vary ?? '').toString().split(', ')

function expectNoPick(response: ReceivedResponse, form: FormName): void {
  expectRefusal(response, form, 400)
  expect(response.headers['x-swap-reason']).toBe('parameter_invalid')
}

describe.each(formNames)('W7, form %s: a request that names a provider', (form) => {
  test('is served by that one, with any provider first', async () => {
    expect((await rate(form)).headers['x-swap-provider']).toBe('alpha')
    expect((await rate(form, picking('beta'))).headers['x-swap-provider']).toBe('beta')
    expect(idOf(await create(form, picking('beta')))).toMatch(/^beta~/)
    expect(managed.alpha.received('create')).toEqual([])
  })

  test.each(['alpha', 'gamma', 'BETA', '', 'beta, beta', 'beta,alpha', '*'])('is 400 where it may not: %j', async (pick) => {
    expectNoPick(await rate(form, picking(pick)), form)
    expectNoPick(await create(form, picking(pick)), form)
    expect([...managed.alpha.journal, ...managed.beta.journal]).toEqual([])
  })

  test('needs an issued key', async () => {
    expectNoPick(await rate(form, picking('beta'), null), form)
    expectNoPick(await rate(form, picking('beta'), 'a-key-that-was-not-issued'), form)
    expectRefusal(
      await managed.client(form).post('/transactions', orderIn(form), { key: null, headers: picking('beta') }),
      form,
      401,
    )
  })

  test.each(['draining', 'off'])('is 503 where that one is %s, and goes nowhere else', async (state) => {
    managed.reconfigure({ providers: { beta: { state } }, sections: { routing } })
    for (const response of [await rate(form, picking('beta')), await create(form, picking('beta'))]) {
      expectRefusal(response, form, 503)
      expect(response.headers['x-swap-reason']).toBe('provider_busy')
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    }
    expect([...managed.alpha.journal, ...managed.beta.journal]).toEqual([])
  })

  test('has no other provider to fall back to', async () => {
    managed.beta.reply('rate', { reset: true })
    expectRefusal(await rate(form, picking('beta')), form, 502)
    managed.beta.holdings.currencies = managed.beta.holdings.currencies.filter((row) => (row as { code: string }).code !== 'USDT')
    expectRefusal(await create(form, picking('beta')), form, 400)
    await managed.beta.close()
    expectRefusal(await create(form, picking('beta')), form, 502)
    expect([...managed.alpha.received('rate'), ...managed.alpha.received('create')]).toEqual([])
  })

  test('is another request under an Idempotency-Key than one that names none', async () => {
    const under = (name: string): Headers => ({ 'idempotency-key': name })
    const first = await create(form, { ...under('a'), ...picking('beta') })
    const again = await create(form, { ...under('a'), ...picking('beta') })
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expectRefusal(await create(form, under('a')), form, 422)
    await create(form, under('b'))
    expectRefusal(await create(form, { ...under('b'), ...picking('beta') }), form, 422)
    expect(managed.beta.received('create')).toHaveLength(1)
  })
})

test('W7: an earlier request is replayed though the provider has been taken out since', async () => {
  const headers = { 'idempotency-key': 'a', ...picking('beta') }
  const first = await create('A', headers)
  managed.reconfigure({ providers: { beta: { state: 'off' } }, sections: { routing } })
  expect((await create('A', headers)).text).toBe(first.text)
})

test('W7: other operations ignore it', async () => {
  const id = idOf(await create('A'))
  const headers = picking('unknown')
  for (const path of ['/transactions', `/transactions/${id}`, '/currencies']) {
    const response = await managed.client('A').get(path, { key, headers })
    expect(response.status, response.text).toBe(200)
  }
  expect((await managed.client('A').get(`/transactions/${id}`, { key, headers })).headers['x-swap-provider']).toBe('alpha')
})

test('W7: one whose weight is 0, or that is not routed, may be picked', async () => {
  const weighted = { providers, strategy: 'weighted', weights: { alpha: 1, beta: 0 }, pick: ['beta'] }
  managed.reconfigure({ sections: { routing: weighted } })
  expect((await rate('A')).headers['x-swap-provider']).toBe('alpha')
  expect((await rate('A', picking('beta'))).headers['x-swap-provider']).toBe('beta')
  managed.reconfigure({ sections: { routing: { providers: ['alpha'], pick: ['beta'] } } })
  const id = idOf(await create('A', picking('beta')))
  expect(id).toMatch(/^beta~/)
  expect((await managed.client('A').get(`/transactions/${id}`, { key })).json).toMatchObject({ id })
})

test('W7: overrides the strategy best', async () => {
  managed.reconfigure({ sections: { routing: { ...routing, strategy: 'best' } } })
  expect((await rate('A', picking('beta'))).headers['x-swap-provider']).toBe('beta')
  expect(managed.alpha.received('rate')).toEqual([])
})

test('W7: quotes have Vary for it if there is a choice, and nothing else does', async () => {
  expect(varyOf(await rate('A'))).toEqual(['X-Swap-Provider'])
  expect(varyOf(await rate('B', picking('beta')))).toEqual(['X-Swap-Provider'])
  expect(varyOf(await managed.client('A').get('/currencies'))).toEqual(['X-Swap-Provider'])
  expect((await create('A')).headers).not.toHaveProperty('vary')
  const bare = await sendRequest(managed.gateway.url, { path: `/api/v2${quoteOf('A')}`, headers: credential('A', key) })
  expect(varyOf(bare)).toEqual(['X-Swap-Form', 'Authorization', 'X-API-Key', 'X-Swap-Provider'])
  managed.reconfigure({ routing: providers })
  expect((await rate('A')).headers).not.toHaveProperty('vary')
})

test('W7: without routing.pick it is 400', async () => {
  managed.reconfigure({ routing: providers })
  expectNoPick(await rate('A', picking('beta')), 'A')
})

test('W7: is never sent to a provider', async () => {
  await rate('A', picking('beta'))
  await create('A', picking('beta'))
  for (const { headers } of managed.beta.journal) expect(headers).not.toHaveProperty('x-swap-provider')
})

test.each(formNames)('W7: with the provider’s own keys it is 400 (form %s)', async (form) => {
  await using passthrough = await startPassthrough('alpha', { sections: { routing: { providers: ['alpha'], pick: ['alpha'] } } })
  const headers = picking('alpha')
  expectNoPick(await passthrough.client(form).get(quoteOf(form), { headers }), form)
  expectNoPick(await passthrough.client(form).post('/transactions', orderIn(form), { headers }), form)
  expect((await passthrough.client(form).get('/transactions', { headers })).status).toBe(200)
})
