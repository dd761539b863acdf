/** docs/contract-operators.md §15: the operator's API with ten thousand accounts, and names as they are typed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'

const [accounts, keys] = [10_000, 50_000]
const token = 'operator-token-of-alice-0123456789'
const directory = mkdtempSync(join(tmpdir(), 'swapgate-many-accounts-'))
const open = new AsyncDisposableStack()
let gateway: InProcessGateway

beforeAll(async () => {
  open.defer(async () => rmSync(directory, { recursive: true }))
  const alpha: Provider = open.use(
    await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }),
  )
  gateway = open.use(
    await InProcessGateway.start({
      directory,
      mode: 'managed',
      admin: { tokens: { alice: token } },
      providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key' } },
    }),
  )
  const ledger = new DatabaseSync(join(directory, 'ledger.db'))
  ledger.exec(`
    with recursive n (at) as (select 1 union all select at + 1 from n where at < ${accounts})
    insert into accounts (id, name, created_at) select 'a' || at, 'account ' || at, at from n;
    with recursive n (at) as (select 1 union all select at + 1 from n where at < ${keys})
    insert into keys (digest, id, account, created_at) select 'd' || at, 'k' || at, 'a' || (1 + at % ${accounts}), at from n`)
  ledger.close()
}, 30_000)
afterAll(() => open.disposeAsync())

async function call(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const { status, text } = await sendRequest(gateway.adminUrl, {
    method,
    path,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status, json: JSON.parse(text) }
}

it('lists accounts and changes one at a cost that does not grow with both', { timeout: 60_000 }, async () => {
  const before = performance.now()
  expect((await call('GET', '/api/accounts')).json).toHaveLength(accounts)
  const changed = await call('PATCH', '/api/accounts/account%207', { limits: { read: 3 } })
  expect(changed).toMatchObject({ status: 200, json: { name: 'account 7', keys: keys / accounts, limits: { read: 3 } } })
  const ended = await call('DELETE', '/api/keys/k6')
  expect(ended).toMatchObject({ status: 200, json: { id: 'k6', name: 'account 7', state: 'revoked' } })
  expect(performance.now() - before, 'milliseconds').toBeLessThan(5_000)
})

it('finds a name whose letters are composed in another way', async () => {
  const [typed, kept] = ['cafe\u0301', 'caf\u00e9']
  const path = `/api/accounts/${encodeURIComponent(typed)}`
  expect(await call('POST', '/api/accounts', { name: typed, limits: { read: 3 } })).toMatchObject({ json: { name: kept } })
  expect(await call('GET', path)).toMatchObject({ status: 200, json: { name: kept } })
  expect(await call('PATCH', path, { limits: { create: 4 } })).toMatchObject({ json: { limits: { read: 3, create: 4 } } })
  expect(await call('DELETE', `${path}/limits`)).toMatchObject({ json: { limits: { read: null, create: null } } })
  for (const list of ['usage', 'transactions'])
    expect((await call('GET', `/api/${list}?account=${encodeURIComponent(typed)}`)).status, list).toBe(200)
})
