/** docs/contract.md §2.3: every response about a provider with `sandbox: true` says so. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames, rateQuery } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { assets, swap } from '../support/swaps.ts'

let managed: Managed
afterEach(() => managed?.close())

const routing = ['alpha', 'beta']
const isMarked = ({ headers }: ReceivedResponse): boolean => headers['x-swap-sandbox'] === 'true'

describe.each(formNames)('form %s', (form) => {
  const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id
  const quote = rateQuery(form, { from: assets.btc, to: assets.usdtTrx, amount: '1' })

  test('every response about a sandbox is marked, out of the ledger too', async () => {
    managed = await startManaged({ routing, providers: { alpha: { sandbox: true } } })
    const key = await managed.issue()
    const { get, post } = managed.client(form)
    const again = { key, headers: { 'idempotency-key': 'order-1' } }
    const created = await post('/transactions', orderIn(form), again)
    const path = `/transactions/${idOf(created)}`
    const known = [created, await get(quote), await get(path, { key }), await get('/transactions', { key })]
    const replayed = await post('/transactions', orderIn(form), again)
    managed.alpha.reply('create', { status: 400, json: { error: 'Bad Request', message: 'No.', code: 400 } })
    const refused = await post('/transactions', orderIn(form), { key })
    managed.reconfigure({ routing, providers: { alpha: { sandbox: true, state: 'off' } } })
    const last = [await get(path, { key }), await get('/transactions', { key })]
    const all = [...known, replayed, refused, ...last]
    expect(all.map(({ headers }) => headers['x-swap-sandbox'])).toEqual(all.map(() => 'true'))
    expect([replayed.headers['idempotent-replayed'], last[0]?.headers['x-swap-stale']]).toEqual(['true', expect.any(String)])
  })

  test('a list and a union of several providers are marked if one is a sandbox', async () => {
    managed = await startManaged({ routing, providers: { beta: { sandbox: true } } })
    const key = await managed.issue()
    const { get, post } = managed.client(form)
    expect(isMarked(await get('/currencies'))).toBe(true)
    await post('/transactions', orderIn(form), { key })
    expect(isMarked(await get('/transactions', { key }))).toBe(false)
    managed.reconfigure({ routing: ['beta', 'alpha'], providers: { beta: { sandbox: true } } })
    await post('/transactions', orderIn(form), { key })
    expect(isMarked(await get('/transactions', { key }))).toBe(true)
    managed.reconfigure({ routing: ['beta', 'alpha'], providers: { beta: { sandbox: true, state: 'draining' } } })
    expect(isMarked(await get('/currencies'))).toBe(false)
  })

  test('the quotes of all providers are marked if one is a sandbox, with or without a quote', async () => {
    const sections = { routing: { providers: ['alpha'], pick: ['alpha', 'beta'] } }
    managed = await startManaged({ sections, providers: { beta: { sandbox: true } } })
    const key = await managed.issue()
    const { get } = managed.client(form)
    const rates = quote.replace('/rate?', '/rates?')
    expect(isMarked(await get(rates, { key }))).toBe(true)
    managed.beta.reply('rate', { status: 500, text: '{}' })
    expect(isMarked(await get(rates, { key }))).toBe(true)
    managed.reconfigure({ sections, providers: { alpha: { sandbox: true } } })
    expect(isMarked(await get(form === 'A' ? '/pairs/BTC/USDTTRC20' : '/pairs/BTC/USDT?networkTo=TRX'))).toBe(true)
  })

  test('no response about another provider is marked', async () => {
    managed = await startManaged({ routing })
    const key = await managed.issue()
    const { get, post } = managed.client(form)
    const all = [await get('/currencies'), await get(quote), await post('/transactions', orderIn(form), { key })]
    expect(all.some(isMarked)).toBe(false)
  })
})

test('with keys of the sandbox itself its lists are marked too', async () => {
  await using passthrough = await startPassthrough('alpha')
  passthrough.alpha.holdings.swaps = [swap()]
  passthrough.reconfigure({}, { sandbox: true })
  expect(isMarked(await passthrough.client('A').get('/transactions'))).toBe(true)
})
