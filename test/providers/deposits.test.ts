/** docs/contract.md §3.5, §3.6: whether a deposit address of a provider is safe to pay to. */
import { afterEach, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { assets, createdStatus, type Rig, startRig } from './rig.ts'

let rig: Rig
afterEach(() => rig[Symbol.asyncDispose]())

const ton = { code: 'TON', coin: 'TON', network: 'TON' }

test('Exolix: an asset of which its list says that a deposit needs a memo has one, or the response is a mismatch', async () => {
  rig = await startRig('exolix')
  expect((await rig.create('A', { from: ton })).status).toBe(createdStatus.A)
  rig.exchange.forgetsMemos = true
  expectRefusal(await rig.create('A', { from: ton }), 'A', 502, 'mismatch')
})

test('Exolix: a list of the configuration decides alone, also an empty one', async () => {
  rig = await startRig('exolix', { provider: { depositMemo: [] } })
  rig.exchange.forgetsMemos = true
  expect((await rig.create('A', { from: ton })).status).toBe(createdStatus.A)
})

test('Exolix: while its list was never read, such an asset is 503, and nothing is sent; others need no list', async () => {
  const words = { TON: { coin: 'TON', network: 'TON' }, ETH: { coin: 'ETH', network: 'ETH' }, BTC: { coin: 'BTC', network: 'BTC' } }
  rig = await startRig('exolix', { provider: { assets: words } })
  rig.exchange.forgetsMemos = true
  rig.exchange.tamper = (operation) => (operation === 'currencies' ? { status: 500, json: {} } : undefined)
  const to = { code: 'BTC', coin: 'BTC', network: 'BTC' }
  const body = { withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }
  expectRefusal(await rig.create('A', { from: ton, to, body }), 'A', 503)
  expect(rig.exchange.received('create')).toEqual([])
  expect((await rig.create('A', { from: assets.eth, to, body })).status).toBe(createdStatus.A)
})

test('Exolix: also an asset that the asset table lacks', async () => {
  const assetTable = [{ coin: 'USDT', name: 'Tether', networks: [{ network: 'ETH', code: 'USDTERC20' }] }]
  rig = await startRig('exolix', { assetTable })
  const created = await rig.create('A', { from: ton })
  expect(created.status, created.text).toBe(createdStatus.A)
  expect(created.json).toMatchObject({ depositExtraId: expect.anything() })
  rig.exchange.forgetsMemos = true
  expectRefusal(await rig.create('A', { from: ton }), 'A', 502, 'mismatch')
  rig.edit({ assetTable, provider: { extraIds: false } })
  expectRefusal(await rig.create('A', { from: ton }), 'A', 400, 'not_offered')
})

test('Exolix: without memos such an asset is not offered, and nothing is sent', async () => {
  rig = await startRig('exolix', { provider: { extraIds: false } })
  expectRefusal(await rig.create('A', { from: ton }), 'A', 400, 'not_offered')
  expect(rig.exchange.received('create')).toEqual([])
})

test.each([
  ['the zero address', '0x0000000000000000000000000000000000000000'],
  ['a burn address', '0x000000000000000000000000000000000000dEaD'],
])('%s, which nobody owns, is a mismatch', async (_, deposit) => {
  rig = await startRig('exolix')
  const replaced = (json: unknown): object => JSON.parse(JSON.stringify(json).replaceAll(/0x[0-9a-f]{40}/g, deposit))
  rig.exchange.tamper = (operation, { json }) => (operation === 'create' ? { json: replaced(json) } : undefined)
  expectRefusal(await rig.create('A', { from: assets.eth }), 'A', 502, 'mismatch')
})

test.each([
  ['cannot be one', 'pending'],
  ['nobody owns', '0x000000000000000000000000000000000000dEaD'],
])('passthrough: a get and a row of a list omit a deposit address that %s, by name', async (_, deposit) => {
  rig = await startRig('exolix', { mode: 'passthrough' })
  const { id } = (await rig.create('A')).json as { readonly id: string }
  const replaced = (json: unknown): object => JSON.parse(JSON.stringify(json).replaceAll(/0x[0-9a-f]{40}/g, deposit))
  const swap = rig.exchange.swaps[0]
  if (!swap) throw new Error('there is no swap')
  rig.exchange.swaps.push({ ...swap, id: 'elsewhere' })
  rig.exchange.tamper = (operation, { json }) =>
    operation === 'get' || operation === 'list' ? { json: replaced(json) } : undefined
  const elsewhere = await rig.get('A', '/transactions/alpha~elsewhere')
  expect(elsewhere.text).not.toContain(deposit)
  expect(elsewhere.headers['x-swap-omitted']).toContain('depositAddress')
  const list = await rig.get('A', '/transactions')
  expect([list.status, list.text]).toEqual([200, expect.not.stringContaining(deposit)])
  expect((await rig.get('A', `/transactions/${id}`)).json).toMatchObject({ depositAddress: swap.deposit })
})

test('a missing memo that is only counted shows its address in the create, in a get and in a list', async () => {
  rig = await startRig('exolix', { mode: 'passthrough', provider: { judge: { depositMemo: 'count' } } })
  rig.exchange.forgetsMemos = true
  const created = await rig.create('A', { from: ton })
  expect(created.status).toBe(createdStatus.A)
  const swap = rig.exchange.swaps[0]
  if (!swap) throw new Error('there is no swap')
  expect(created.json).toMatchObject({ depositAddress: swap.deposit })
  rig.exchange.swaps.push({ ...swap, id: 'elsewhere' })
  expect((await rig.get('A', '/transactions/alpha~elsewhere')).json).toMatchObject({ depositAddress: swap.deposit })
  const { data } = (await rig.get('A', '/transactions')).json as { readonly data: readonly { readonly depositAddress?: string }[] }
  expect(data.map(({ depositAddress }) => depositAddress)).toEqual([swap.deposit, swap.deposit])
})
