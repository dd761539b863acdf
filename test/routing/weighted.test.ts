/** docs/contract-operators.md §12: `strategy: weighted` gives each client one provider, in proportion to the weights. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, rateQuery } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed.close())

type Weights = Readonly<Record<string, number>>
const server = { trustProxy: 1 }
const sectionsOf = (weights: Weights): Readonly<Record<string, unknown>> => ({
  server,
  routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights },
})
const start = async (weights: Weights, providers: Readonly<Record<string, object>> = {}): Promise<void> => {
  managed = await startManaged({ sections: sectionsOf(weights), providers })
}
const quote = (key: string | null, form: FormName = 'A', address = '192.0.2.1'): Promise<ReceivedResponse> =>
  managed.client(form).get(rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '1' }), {
    key,
    headers: { 'x-forwarded-for': address },
  })
const create = (key: string, form: FormName = 'A'): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form), { key })
const providerOf = ({ headers, text }: ReceivedResponse): string => {
  expect(headers, text).toHaveProperty('x-swap-provider')
  return String(headers['x-swap-provider'])
}
const issueMany = (count: number): Promise<readonly string[]> => Promise.all(Array.from({ length: count }, () => managed.issue()))

test('W6: an account’s quotes and creates go to one provider, in both forms and with each of its keys', async () => {
  await start({ alpha: 50, beta: 50 })
  const taken = new Set<string>()
  for (let account = 0; account < 12; account++) {
    const [one, other] = [await managed.issue(`acme-${account}`), await managed.issue(`acme-${account}`)] as const
    const responses = [await quote(one), await create(one, 'B'), await quote(other, 'B', '198.51.100.9'), await create(other)]
    const providers = new Set(responses.map(providerOf))
    expect(providers.size).toBe(1)
    for (const provider of providers) taken.add(provider)
  }
  expect(taken).toEqual(new Set(['alpha', 'beta']))
})

const sameCreate = (key: string, facts: object = {}, address = '192.0.2.1'): Promise<ReceivedResponse> =>
  managed.client('A').post('/transactions', orderIn('A', { amount: 1, ...facts }), { key, headers: { 'x-forwarded-for': address } })

test('W6: a create goes where its account, else its address, was quoted the same request', async () => {
  await start({ alpha: 50, beta: 50 })
  const quoted = providerOf(await quote(null))
  for (const key of await issueMany(8)) {
    expect(providerOf(await sameCreate(key))).toBe(quoted)
    expect(providerOf(await quote(key, 'B'))).toBe(quoted)
    expect(providerOf(await sameCreate(key, {}, '198.51.100.9'))).toBe(quoted)
  }
})

test('W6: another request, rate type or address was not quoted', async () => {
  await start({ alpha: 50, beta: 50 })
  const keys = await issueMany(12)
  const before = await Promise.all(keys.map(async (key) => providerOf(await create(key))))
  await quote(null)
  const others = (facts: object, address?: string) =>
    Promise.all(keys.map(async (key) => providerOf(await sameCreate(key, facts, address))))
  expect(await others({ amount: 2 })).toEqual(before)
  expect(await others({ rateType: 'fixed' })).toEqual(before)
  expect(await others({}, '198.51.100.9')).toEqual(before)
  expect(new Set(before).size).toBe(2)
})

test('W6: an account that moves after its quote is served by the provider of the quote, unless that takes nothing new', async () => {
  await start({ alpha: 1, beta: 0 })
  const keys = await issueMany(40)
  for (const key of keys) expect(providerOf(await quote(key))).toBe('alpha')
  managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }) })
  const moved: string[] = []
  for (const key of keys) if (providerOf(await sameCreate(key, { amount: 2 })) === 'beta') moved.push(key)
  const [one = '', two = '', three = '', four = ''] = moved
  expect(providerOf(await sameCreate(one))).toBe('alpha')
  expect(providerOf(await quote(one))).toBe('beta')
  expect(providerOf(await sameCreate(one))).toBe('beta')
  managed.reconfigure({ sections: sectionsOf({ alpha: 0, beta: 50 }) })
  expect(providerOf(await sameCreate(two))).toBe('beta')
  for (const state of ['draining', 'off']) {
    managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }), providers: { alpha: { state } } })
    expect(providerOf(await sameCreate(three))).toBe('beta')
  }
  managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }), providers: { alpha: { assets: { USDTTRC20: null } } } })
  expect(providerOf(await sameCreate(four))).toBe('beta')
})

test('W6: a client stays where it is when the configuration is read again, and moves only towards what has gained', async () => {
  await start({ alpha: 90, beta: 10 })
  const keys = await issueMany(60)
  const providers = async (): Promise<readonly string[]> => Promise.all(keys.map(async (key) => providerOf(await quote(key))))
  const first = await providers()
  managed.reconfigure({ sections: sectionsOf({ alpha: 900, beta: 100 }) })
  expect(await providers()).toEqual(first)
  managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }) })
  const second = await providers()
  for (const [at, provider] of first.entries()) if (provider === 'beta') expect(second[at]).toBe('beta')
  expect(second.filter((provider) => provider === 'beta').length).toBeGreaterThan(
    first.filter((provider) => provider === 'beta').length,
  )
  managed.reconfigure({ sections: sectionsOf({ alpha: 90, beta: 10 }) })
  expect(await providers()).toEqual(first)
})

test('W6: callers without a key go by their address, IPv6 by /64', async () => {
  await start({ alpha: 50, beta: 50 })
  const providers = new Set<string>()
  for (let net = 0; net < 24; net++) {
    const provider = providerOf(await quote(null, 'A', `2001:db8:${net}::1`))
    expect(providerOf(await quote(null, 'B', `2001:db8:${net}::ffff`))).toBe(provider)
    expect(providerOf(await quote('unissued-key', 'A', `2001:db8:${net}::2`))).toBe(provider)
    providers.add(provider)
  }
  expect(providers).toEqual(new Set(['alpha', 'beta']))
})

describe.each(formNames)('W6, form %s: a provider with weight 0', (form) => {
  test('takes nothing and is no fallback', async () => {
    await start({ alpha: 1, beta: 0 }, { alpha: { assets: { USDTTRC20: null } } })
    const key = await managed.issue()
    expectRefusal(await quote(key, form), form, 400)
    expectRefusal(await create(key, form), form, 400)
    managed.reconfigure({ sections: sectionsOf({ alpha: 1, beta: 0 }), providers: { alpha: { state: 'draining' } } })
    expectRefusal(await quote(key, form), form, 503)
    const refused = await create(key, form)
    expectRefusal(refused, form, 503)
    expect(refused.headers['x-swap-reason']).toBe('provider_busy')
    expect([...managed.beta.received('rate'), ...managed.beta.received('create')]).toEqual([])
  })

  test('lists no coin that nobody else takes, and none while the others take nothing', async () => {
    await start({ alpha: 1, beta: 0 }, { alpha: { assets: { USDTTRC20: null } } })
    const listed = () => managed.client(form).get('/currencies?size=100')
    const networksOfUsdt = async (): Promise<string> => JSON.stringify(rowsOf(await listed()).filter((row) => /USDT/.test(row)))
    expect(await networksOfUsdt()).not.toContain('TRX')
    expect((await listed()).headers['x-swap-provider']).toBe('alpha')
    managed.reconfigure({ sections: sectionsOf({ alpha: 1, beta: 1 }), providers: { alpha: { assets: { USDTTRC20: null } } } })
    expect(await networksOfUsdt()).toContain('TRX')
    managed.reconfigure({ sections: sectionsOf({ alpha: 1, beta: 0 }), providers: { alpha: { state: 'draining' } } })
    const refused = await listed()
    expectRefusal(refused, form, 503)
    expect(refused.headers['x-swap-reason']).toBe('provider_busy')
  })
})

/** Each as text. */
function rowsOf({ json }: ReceivedResponse): readonly string[] {
  return ((json as { data?: readonly object[] }).data ?? (json as readonly object[])).map((row) => JSON.stringify(row))
}

test('W6: while a provider cannot take it the next one does, for as long as that lasts', async () => {
  await start({ alpha: 50, beta: 50 })
  const keys = await issueMany(12)
  const before = await Promise.all(keys.map(async (key) => providerOf(await create(key))))
  managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }), providers: { alpha: { state: 'draining' } } })
  for (const key of keys) expect(providerOf(await create(key))).toBe('beta')
  managed.reconfigure({ sections: sectionsOf({ alpha: 50, beta: 50 }) })
  expect(await Promise.all(keys.map(async (key) => providerOf(await create(key))))).toEqual(before)
})

test('W6: a create that may have reached its provider goes nowhere else', async () => {
  await start({ alpha: 50, beta: 50 })
  for (const provider of [managed.alpha, managed.beta]) provider.reply('create', { reset: true })
  for (const key of await issueMany(6)) {
    const received = managed.alpha.received('create').length + managed.beta.received('create').length
    expectRefusal(await create(key), 'A', 504)
    expect(managed.alpha.received('create').length + managed.beta.received('create').length).toBe(received + 1)
  }
})

test('W6: if none offers the pair the first of the list refuses it, for any client', async () => {
  await start({ alpha: 50, beta: 50 }, { alpha: { assets: { USDTTRC20: null } }, beta: { assets: { BTC: null } } })
  for (const key of await issueMany(8)) expect(expectRefusal(await quote(key), 'A', 400)).toContain('coinTo')
})
