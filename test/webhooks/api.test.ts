/** docs/contract.md §18.3: webhooks in the operator's API. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { facts } from '../ledger/samples.ts'
import { serveApi } from '../operator/served.ts'

const key = randomBytes(32).toString('base64')
const url = 'https://hooks.example/swaps'

let stores: OpenLedger
let api: Awaited<ReturnType<typeof serveApi>>
let keyless: Awaited<ReturnType<typeof serveApi>>
const open = new AsyncDisposableStack()
beforeAll(async () => {
  stores = await openLedger('sqlite::memory:')
  open.defer(stores.close)
  await stores.accounts.changeLimits('acme', { read: 9 }, 1, 'tester')
  api = open.use(await serveApi(stores, { defaultForm: 'A', webhooks: { key: [key], allow: [] } }))
  keyless = open.use(await serveApi(stores, { defaultForm: 'A', webhooks: { key: [], allow: [] } }))
})
afterAll(() => open.disposeAsync())

async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  at = api,
): Promise<{ readonly status: number; readonly body: T }> {
  const { status, text } = await at.call(method, path, body)
  return { status, body: JSON.parse(text) as T }
}

interface Row {
  readonly id: string
  readonly secret?: string
  readonly oldSecretEndsAt: string | null
}

describe('webhooks', () => {
  it('are added, listed, shown, rotated and removed', async () => {
    const { status, body: added } = await call<Row>('POST', '/webhooks', { account: 'acme', url, form: 'B' })
    expect(status).toBe(201)
    const { secret, ...row } = added
    expect(row).toMatchObject({ account: 'acme', url, form: 'B', state: 'active', oldSecretEndsAt: null })
    expect(secret).toMatch(/^whsec_/)
    const shown = { ...row, waiting: 0, failed: 0 }
    expect((await call('GET', '/webhooks')).body).toEqual([shown])
    expect((await call('GET', `/webhooks/${row.id}`)).body).toEqual(shown)
    const rotated = await call<Row>('POST', `/webhooks/${row.id}/rotate`, { overlap: '1h' })
    expect(rotated.body.secret).toMatch(/^whsec_/)
    expect(rotated.body.secret).not.toBe(secret)
    expect(Date.parse(rotated.body.oldSecretEndsAt ?? '')).toBeGreaterThan(Date.now())
    expect((await call<Row>('POST', `/webhooks/${row.id}/rotate`)).status).toBe(200)
    const ended = await call<Row>('POST', `/webhooks/${row.id}/rotate`, { overlap: '0' })
    expect([ended.status, ended.body.oldSecretEndsAt]).toEqual([200, null])
    expect((await call('GET', `/webhooks/${row.id}/deliveries?failed=true`)).body).toEqual([])
    expect((await call('DELETE', `/webhooks/${row.id}`)).body).toMatchObject({ id: row.id, state: 'removed' })
    expect((await call('GET', '/webhooks')).body).toEqual([])
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['GET', '/deliveries'],
    ] as const)
      expect((await call(method, `/webhooks/${row.id}${path}`)).status, `${method} ${path}`).toBe(404)
  })

  it('their deliveries are read in pages by the links, with the filter of the first', async () => {
    const { body: added } = await call<Row>('POST', '/webhooks', { account: 'acme', url })
    const { owner = '' } = (await stores.webhooks.find(added.id)) ?? {}
    for (let at = 0; at < 5; at++) await stores.ledger.upsert(owner, 'alpha', facts(`t${at}`))
    while ((await stores.events.number()).mayBeMore);
    const pages = async (query: string): Promise<readonly (readonly string[])[]> => {
      const read: string[][] = []
      for (let path: string | undefined = `/webhooks/${added.id}/deliveries${query}`; path !== undefined; ) {
        const { status, text, headers } = await api.call('GET', path)
        expect(status, text).toBe(200)
        read.push((JSON.parse(text) as { readonly transaction: string }[]).map(({ transaction }) => transaction.slice(-2)))
        path = /^<\/api(.*)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1]
      }
      return read
    }
    expect(await pages('')).toEqual([['t4', 't3', 't2', 't1', 't0']])
    expect(await pages('?size=2')).toEqual([['t4', 't3'], ['t2', 't1'], ['t0']])
    expect(await pages('?size=2&failed=true')).toEqual([[]])
    for (const size of ['0', '1001', 'many'])
      expect((await call('GET', `/webhooks/${added.id}/deliveries?size=${size}`)).status).toBe(400)
    expect((await call('GET', `/webhooks/${added.id}/deliveries?page=2`)).status).toBe(400)
    await call('DELETE', `/webhooks/${added.id}`)
  })

  it.each([
    ['an address that is not public', { account: 'acme', url: 'https://10.0.0.1/' }, 400],
    ['http', { account: 'acme', url: 'http://hooks.example/' }, 400],
    ['no URL', { account: 'acme', url: 'hooks.example' }, 400],
    ['an unknown form', { account: 'acme', url, form: 'C' }, 400],
    ['an unknown member', { account: 'acme', url, secret: 'mine' }, 400],
    ['an unknown account', { account: 'nobody', url }, 404],
  ])('%s is refused', async (_, body, status) => {
    expect((await call('POST', '/webhooks', body)).status).toBe(status)
    expect((await call('GET', '/webhooks')).body).toEqual([])
  })

  it('an overlap above seven days is 400', async () => {
    expect((await call('POST', '/webhooks/wh_x/rotate', { overlap: '8d' })).status).toBe(400)
    expect((await call('GET', '/webhooks/wh_x/deliveries?failed=perhaps')).status).toBe(400)
  })

  it('without webhooks.key none is added', async () => {
    expect(await call('POST', '/webhooks', { account: 'acme', url }, keyless)).toMatchObject({ status: 409 })
  })
})
