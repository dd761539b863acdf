/** docs/contract-operators.md §15: what an operator may send, over both stores. */
import { expect, test } from 'vitest'
import { maxUnresolved, type UnresolvedCursor } from '../../src/core/ports/ledger-admin.ts'
import { query } from '../ledger/raw.ts'
import { describeStores, durableStores } from '../ledger/stores.ts'
import { serveApi } from './served.ts'

describeStores(durableStores, (shared) => {
  test.each([
    ['GET', '/transactions?account=%00', 400],
    ['GET', '/transactions?provider=a%00b', 400],
    ['GET', '/transactions?account=%ED%A0%80', 200],
    ['GET', '/transactions/alpha~%00', 404],
    ['GET', '/transactions/alpha~%ff', 404],
    ['POST', '/transactions/alpha~%00', 404, { status: 'refunded', note: 'x' }],
    ['POST', '/transactions/constructor~__proto__', 404, { status: 'refunded', note: 'x' }],
    ['POST', '/unresolved/%00', 404, { none: true }],
    ['POST', '/unresolved/x', 404, { bind: '\0' }],
    ['DELETE', '/keys/%00', 404],
    ['GET', '/audit?since=100y', 400],
    ['GET', '/audit?since=36500d', 200],
    ['GET', '/audit?since=0001-01-01', 200],
    ['GET', '/transactions?since=0001-01-01', 200],
    ['GET', '/transactions?since=9999-12-31', 200],
    ['GET', '/transactions?page=100000&size=100', 200],
    ['POST', '/keys', 400, JSON.parse('{"name":"a","__proto__":{"expires":"1h"}}')],
    ['POST', '/keys', 400, { name: '\ud800' }],
    ['POST', '/keys', 400, { name: 'a\0b' }],
  ])('W19: %s %s is %i, and no internal error', async (method, path, status, body?: unknown) => {
    await using api = await serveApi(shared(), { providers: [], routing: { providers: [], strategy: 'priority' } })
    expect((await api.call(method, path, body)).status).toBe(status)
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
  ['POST', '/settlements', { provider: 'alpha', outcome: 'none', note: 'x' }],
  ['POST', '/settlements/2-x'],
  ['GET', '/keys'],
  ['POST', '/keys', { name: 'acme' }],
  ['DELETE', '/keys/x'],
  ['GET', '/accounts'],
  ['GET', '/accounts/acme'],
  ['POST', '/accounts', { name: 'acme', limits: { read: 9 } }],
  ['PATCH', '/accounts/acme', { limits: { read: 9 } }],
  ['DELETE', '/accounts/acme/limits'],
  ['GET', '/audit'],
  ['GET', '/found'],
  ['POST', '/found/alpha~a', { assign: true, account: 'acme', key: null, unconfirmed: true, note: 'x' }],
  ['POST', '/found/alpha~a', { dismiss: true, note: 'x' }],
  ['POST', '/found/alpha~a', { unassign: true, note: 'x' }],
  ['GET', '/webhooks'],
  ['GET', '/webhooks/x'],
  ['POST', '/webhooks/x/test'],
])(
  'W83: while the ledger is unavailable, %s %s is 503 with Retry-After, and no internal error',
  async (method, path, body?: unknown) => {
    const lost = async (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
    const methods = [
      'addKey',
      'listKeys',
      'readKey',
      'revokeKey',
      'read',
      'readAll',
      'change',
      'search',
      'findTransaction',
      'settle',
    ].concat([
      'unresolved',
      'findUnresolved',
      'append',
      'needPerson',
      'markNotCreated',
      'bind',
      'openCounts',
      'listAccounts',
      'changeLimits',
      'findPlan',
      'undecided',
      'findUndecided',
      'unassign',
      'list',
      'find',
      'counts',
      'countsOfAll',
    ])
    const names = [
      'accounts',
      'audit',
      'ledgerAdmin',
      'overrides',
      'suspensions',
      'replicaFigures',
      'currencyLists',
      'ledger',
      'restores',
      'webhooks',
    ] as const
    const ports = names.map((name) => [name, Object.fromEntries(methods.map((method) => [method, lost]))])
    const file = {
      providers: [{ name: 'alpha', tag: 'alpha', state: 'active' }],
      routing: { providers: ['alpha'], strategy: 'priority' },
      webhooks: { key: [], allow: [] },
      limits: {},
    }
    await using api = await serveApi(Object.fromEntries(ports), file, lost)
    const { status, headers } = await api.call(method, path, body)
    expect([status, headers['x-swap-reason'], headers['retry-after']]).toEqual([503, 'ledger_unavailable', expect.any(String)])
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
  const stores = { ...otherStores, ledgerAdmin }
  await using api = await serveApi(stores, { providers: [{ name: 'beta', tag: 'two' }] })
  expect((await api.call('GET', `/transactions?provider=${provider}`)).status).toBe(200)
  expect(found).toEqual([tag])
})

test('a page of creates that is full names the next one, and the last one names none', async () => {
  const creates = Array.from({ length: maxUnresolved + 1 }, (_, at) => ({ intent: `create~${at}`, attemptedAt: at }))
  const ledgerAdmin = {
    unresolved: async (after?: UnresolvedCursor) =>
      creates.filter(({ attemptedAt }) => attemptedAt > (after?.attemptedAt ?? -1)).slice(0, maxUnresolved),
    needPerson: async () => [],
  }
  await using api = await serveApi({ ...otherStores, ledgerAdmin }, {})
  const first = await api.call('GET', '/unresolved')
  expect(first.json).toHaveLength(maxUnresolved)
  const [, next = ''] = /^<\/api(\/unresolved\?after=.+)>; rel="next"$/.exec(String(first.headers.link)) ?? []
  const last = await api.call('GET', next)
  expect(last.json).toMatchObject([{ intent: `create~${maxUnresolved}` }])
  expect(last.headers).not.toHaveProperty('link')
  expect((await api.call('GET', '/unresolved?after=x')).status).toBe(400)
})

const otherStores = {
  accounts: {},
  audit: { append: async () => {} },
  overrides: {},
  suspensions: {},
  replicaFigures: {},
  currencyLists: {},
  ledger: {},
  restores: {},
  webhooks: {},
}
