/** docs/contract-operators.md §18.5: a webhook of a provider makes the gateway read what it names, and nothing else. */
import { afterEach, expect, test } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'

const secret = 'canary.hook~secret_0123456789-abc'
const routing = ['alpha', 'beta']
let managed: Managed
let key: string
afterEach(() => managed.close())

async function start(settings: Parameters<typeof startManaged>[0] = {}): Promise<void> {
  managed = await startManaged({ routing, providers: { alpha: { hook: secret } }, ...settings })
  key = await managed.issue('acme')
}
const create = async (count = 1): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const { json } = await managed.client('A').post('/transactions', orderIn('A'), { key })
    ids.push((json as { id: string }).id.slice('alpha~'.length))
  }
  managed.alpha.reset()
  return ids
}
const jsonType = { 'content-type': 'application/json' }
const post = (body: string, path = `/hooks/alpha/${secret}`, headers: Record<string, string> = jsonType) =>
  sendRequest(managed.gateway.url, { method: 'POST', path, headers, body })
const gets = (): readonly string[] => managed.alpha.received('get').map(({ path }) => path.slice('/transactions/'.length))
const readNow = async (): Promise<readonly string[]> => {
  await managed.gateway.readWatched()
  return gets()
}

test.each([
  ['a text at any depth', (id: string) => JSON.stringify({ data: [{ order: { id } }] }), jsonType],
  [
    'a form',
    (id: string) => new URLSearchParams({ event: 'update', id }).toString(),
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  ['a body whose type says nothing', (id: string) => JSON.stringify([id]), { 'content-type': 'text/plain' }],
])('%s names a transaction, which is read', async (_, bodyOf, headers) => {
  await start()
  const [id = ''] = await create()
  expect(await post(bodyOf(id), undefined, headers)).toMatchObject({ status: 204, text: '' })
  expect(await readNow()).toEqual([id])
})

test('what the body says of it is not believed', async () => {
  await start()
  const [id = ''] = await create()
  await post(JSON.stringify({ id, status: 'success', txHashOut: 'forged' }))
  await readNow()
  const { json } = await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  expect(json).toMatchObject({ status: 'wait' })
})

test('any number of them costs one read in five seconds', async () => {
  await start()
  const [id = ''] = await create()
  for (let at = 0; at < 10; at++) {
    await post(JSON.stringify({ id }))
    await readNow()
  }
  await managed.gateway.watches.findWatched()
  await post(JSON.stringify({ id }))
  expect(await readNow()).toEqual([id])
})

test("one that comes after a client's get is read all the same", async () => {
  await start()
  const [id = ''] = await create()
  await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  await post(JSON.stringify({ id }))
  expect(await readNow()).toEqual([id, id])
})

test('what is not here, has ended, or is of another provider is not read', async () => {
  await start()
  const [id = ''] = await create()
  managed.alpha.holdings.swaps = managed.alpha.holdings.swaps.map((held) => ({ ...held, status: 'success' }))
  await managed.client('A').get(`/transactions/alpha~${id}`, { key })
  managed.alpha.reset()
  await post(JSON.stringify(['unknown', id, 17, `beta~${id}`]))
  expect(await readNow()).toEqual([])
})

test('of more than a hundred ids the first hundred are read', async () => {
  await start()
  const ids = await create(103)
  managed.alpha.reply('list', { status: 404, json: { error: { code: 404, message: 'Not found.' } } })
  await post(JSON.stringify(ids))
  expect(new Set(await readNow())).toEqual(new Set(ids.slice(0, 100)))
})

test.each([
  ['no JSON', '{"id":'],
  ['nothing', ''],
  ['nested too deeply', `${'['.repeat(100)}${']'.repeat(100)}`],
  ['larger than 64 KiB', JSON.stringify(['x'.repeat(70_000)])],
])('a body that is %s is 204 and reads nothing', async (_, body) => {
  await start()
  await create()
  expect(await post(body)).toMatchObject({ status: 204 })
  expect(await readNow()).toEqual([])
})

test('an id is found behind whatever else the body has', async () => {
  await start()
  const [id = ''] = await create()
  await post(JSON.stringify({ swaps: Array.from({ length: 1_200 }, (_, at) => ({ amount: at, hash: `hash-${at}` })), id }))
  expect(await readNow()).toEqual([id])
})

test('a body of 64 KiB is read, though other requests have less', async () => {
  await start()
  const [id = ''] = await create()
  await post(JSON.stringify({ id, filler: 'x'.repeat(60_000) }))
  expect(await readNow()).toEqual([id])
})

test.each([
  ['a wrong secret', `/hooks/alpha/${secret.slice(0, -1)}x`],
  ['a shorter one', `/hooks/alpha/${secret.slice(0, -1)}`],
  ['none', '/hooks/alpha'],
  ['a longer path', `/hooks/alpha/${secret}/more`],
  ['a provider without one', `/hooks/beta/${secret}`],
  ['an unknown tag', `/hooks/gamma/${secret}`],
])('%s is 404 path, and shows nothing', async (_, path) => {
  await start()
  const [id = ''] = await create()
  const { status, headers, text } = await post(JSON.stringify({ id }), path)
  expect([status, headers['x-swap-reason']]).toEqual([404, 'path'])
  expect(text).not.toContain('canary')
  expect(await readNow()).toEqual([])
})

test('without a hook in the configuration there is no such path', async () => {
  await start({ providers: {} })
  expect(await post('{}')).toMatchObject({ status: 404 })
})

test('another method is 405', async () => {
  await start()
  const { status, headers } = await sendRequest(managed.gateway.url, { method: 'GET', path: `/hooks/alpha/${secret}` })
  expect([status, headers.allow]).toEqual([405, 'POST'])
})

test('an address may send 120 in a minute, right or wrong', async () => {
  await start()
  for (let at = 0; at < 60; at++) {
    expect((await post('{}')).status).toBe(204)
    expect((await post('{}', '/hooks/alpha/wrong')).status).toBe(404)
  }
  const { status, headers } = await post('{}')
  expect([status, headers['x-swap-reason']]).toEqual([429, 'limited'])
})

test('the secret is in no log, metric or trace: the route is the tag', async () => {
  await start()
  await post('{}')
  await post('{}', '/hooks/gamma/another')
  const routes = managed.gateway.observations.flatMap((each) => (each.what === 'request' ? [each.route] : []))
  expect(routes.slice(-2)).toEqual(['/hooks/alpha', '/hooks'])
  expect(JSON.stringify(managed.gateway.observations)).not.toContain(secret)
})
