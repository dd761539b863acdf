/** docs/contract.md §15: what an operator may send, over both stores. */
import { expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { operatorApi } from '../../src/operator/api.ts'
import { query } from '../ledger/raw.ts'
import { describeStores, durableStores } from '../ledger/stores.ts'

describeStores(durableStores, (shared) => {
  const call = async (method: string, path: string, body?: unknown): Promise<string> => {
    const config = () => ({ providers: [], routing: { providers: [], strategy: 'priority' } }) as never
    const api = operatorApi({ stores: shared(), file: config, inForce: config, follow: async () => {} }, '1')
    const url = new URL(`http://admin${path}`)
    const request = { method, path: path.split('?')[0] ?? '', query: url.searchParams, body, actor: 'alice' }
    try {
      return String((await api(request)).status)
    } catch (reason) {
      return Fault.from(reason).kind
    }
  }

  test.each([
    ['GET', '/transactions?account=%00', 'invalid'],
    ['GET', '/transactions?provider=a%00b', 'invalid'],
    ['GET', '/transactions?account=%ED%A0%80', '200'],
    ['GET', '/transactions/alpha~%00', 'notFound'],
    ['GET', '/transactions/alpha~%ff', 'notFound'],
    ['POST', '/transactions/alpha~%00', 'notFound', { status: 'refunded', note: 'x' }],
    ['POST', '/transactions/constructor~__proto__', 'notFound', { status: 'refunded', note: 'x' }],
    ['POST', '/unresolved/%00', 'notFound', { none: true }],
    ['POST', '/unresolved/x', 'notFound', { bind: '\0' }],
    ['DELETE', '/keys/%00', 'notFound'],
    ['GET', '/audit?since=100y', 'invalid'],
    ['GET', '/audit?since=36500d', '200'],
    ['GET', '/audit?since=0001-01-01', '200'],
    ['GET', '/transactions?since=0001-01-01', '200'],
    ['GET', '/transactions?since=9999-12-31', '200'],
    ['GET', '/transactions?page=100000&size=100', '200'],
    ['POST', '/keys', 'invalid', JSON.parse('{"name":"a","__proto__":{"expires":"1h"}}')],
    ['POST', '/keys', 'invalid', { name: '\ud800' }],
    ['POST', '/keys', 'invalid', { name: 'a\0b' }],
  ])('W19: %s %s is %s, and no internal error', async (method, path, outcome, body?: unknown) => {
    expect(await call(method, path, body)).toBe(outcome)
  })

  test('W19: a search by provider reads an index alone, so that it holds up no client', async () => {
    const { url } = await shared().openNew()
    if (!url.startsWith('sqlite:')) return // There another process does it.
    const count = "SELECT count(*) FROM transactions WHERE state = 'done' AND provider || '' = 'alpha'"
    expect(JSON.stringify(await query(url, `EXPLAIN QUERY PLAN ${count}`))).toContain('USING COVERING INDEX transactions_newest')
  })
})

test.each([
  ['GET', '/providers'],
  ['GET', '/routing'],
  ['GET', '/transactions'],
  ['GET', '/transactions/alpha~a'],
  ['POST', '/transactions/alpha~a', { status: 'refunded', note: 'x' }],
  ['PATCH', '/providers/alpha', { state: 'draining' }],
  ['PATCH', '/routing', { shadow: null }],
  ['DELETE', '/overrides'],
  ['GET', '/unresolved'],
  ['POST', '/unresolved/x', { none: true }],
  ['GET', '/keys'],
  ['POST', '/keys', { name: 'acme' }],
  ['DELETE', '/keys/x'],
  ['GET', '/accounts'],
  ['GET', '/audit'],
])(
  'W83: while the ledger is unavailable, %s %s is 503 with Retry-After, and no internal error',
  async (method, path, body?: unknown) => {
    const lost = async (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
    const methods = ['addKey', 'listKeys', 'revokeKey', 'read', 'readAll', 'change', 'search', 'findTransaction', 'settle'].concat([
      'unresolved',
      'findUnresolved',
      'append',
      'needPerson',
      'markNotCreated',
      'bind',
      'openCounts',
    ])
    const names = ['accounts', 'audit', 'ledgerAdmin', 'overrides', 'suspensions', 'replicaFigures', 'currencyLists'] as const
    const ports = names.map((name) => [name, Object.fromEntries(methods.map((method) => [method, lost]))])
    const config = () =>
      ({
        providers: [{ name: 'alpha', tag: 'alpha', state: 'active' }],
        routing: { providers: ['alpha'], strategy: 'priority' },
      }) as never
    const api = operatorApi({ stores: Object.fromEntries(ports), file: config, inForce: config, follow: lost }, '1')
    const refusal = await api({ method, path, query: new URLSearchParams(), body, actor: 'alice' }).catch(Fault.from)
    expect(refusal).toMatchObject({ kind: 'unavailable', reason: 'ledger_unavailable', retryAfter: expect.any(Number) })
  },
)

test.each([
  ['its name', 'beta', 'two'],
  ['its tag', 'two', 'two'],
  ['a tag that the file has no longer', 'old', 'old'],
])('W85: transactions are found by %s, though rows have only the tag', async (_, provider, tag) => {
  const found: unknown[] = []
  const ledgerAdmin = {
    search: async (sought: { readonly provider?: string }) => {
      found.push(sought.provider)
      return { found: [], count: 0 }
    },
  }
  const config = () => ({ providers: [{ name: 'beta', tag: 'two' }] }) as never
  const none = {
    accounts: {},
    audit: { append: async () => {} },
    overrides: {},
    suspensions: {},
    replicaFigures: {},
    currencyLists: {},
  }
  const stores = { ...none, ledgerAdmin } as never
  const api = operatorApi({ stores, file: config, inForce: config, follow: async () => {} }, '1')
  const query = new URLSearchParams({ provider })
  await api({ method: 'GET', path: '/transactions', query, body: undefined, actor: 'alice' })
  expect(found).toEqual([tag])
})
