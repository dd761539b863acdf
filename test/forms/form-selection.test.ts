/** docs/contract.md §2: which form a client speaks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type FormName, formNames, type Pair, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'

const key = 'canary-client-key-1'
const bearer = { authorization: `Bearer ${key}` }
const apiKey = { 'x-api-key': key }

for (const defaultForm of formNames) {
  describe(`with defaultForm ${defaultForm}`, () => {
    let pair: Pair
    beforeAll(async () => {
      pair = await startPair('A', 'A', { sections: { defaultForm } })
    })
    beforeEach(() => pair.provider.reset())
    afterAll(() => pair.close())

    const other: FormName = defaultForm === 'A' ? 'B' : 'A'
    const chosen: readonly (readonly [string, string, Record<string, string>, FormName])[] = [
      ['the mount /a', '/a/api/v2/currencies', {}, 'A'],
      ['the mount /b', '/b/api/v2/currencies', {}, 'B'],
      ['the mount before the credential', '/a/api/v2/currencies', apiKey, 'A'],
      ['X-Swap-Form: A', '/api/v2/currencies', { 'x-swap-form': 'A' }, 'A'],
      ['X-Swap-Form: B', '/api/v2/currencies', { 'x-swap-form': 'B' }, 'B'],
      ['X-Swap-Form in lower case', '/api/v2/currencies', { 'x-swap-form': 'b' }, 'B'],
      ['X-Swap-Form before the credential', '/api/v2/currencies', { 'x-swap-form': 'B', ...bearer }, 'B'],
      ['a bearer token', '/api/v2/currencies', bearer, 'A'],
      ['a bearer token in any case', '/api/v2/currencies', { authorization: `bEARER ${key}` }, 'A'],
      ['X-API-Key', '/api/v2/currencies', apiKey, 'B'],
      ['the credential before a network parameter', '/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=1&networkTo=ETH', bearer, 'A'],
      ['networkFrom in the query', '/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=1&networkFrom=BTC', {}, 'B'],
      ['networkTo in the query', '/api/v2/rate?networkTo=ETH&coinFrom=BTC&coinTo=ETH&amount=1', {}, 'B'],
      ['the default without a choice', '/api/v2/currencies', {}, defaultForm],
      ['the default where a credential of no form is sent', '/api/v2/currencies', { authorization: 'Basic eDp5' }, defaultForm],
      ['the default outside the mounts', '/nowhere', {}, defaultForm],
      ['the default outside the mounts whatever the credential', '/nowhere', other === 'A' ? bearer : apiKey, defaultForm],
    ]
    test.each(chosen)('the form is chosen by %s', async (_, path, headers, form) => {
      const response = await sendRequest(pair.gateway.url, { path, headers })
      expect(response.headers['x-swap-form']).toBe(form)
      const isError = response.status >= 400
      if (isError) expectRefusal(response, form, response.status)
      else if (path.includes('currencies')) expect(Object.keys(response.json as object).includes('pagination')).toBe(form === 'A')
      else expect(Object.keys(response.json as object)).toContain('fromAmount')
    })

    const refused: readonly (readonly [string, string, Record<string, string>, FormName])[] = [
      ['X-Swap-Form of no form', '/api/v2/currencies', { 'x-swap-form': 'C' }, defaultForm],
      ['an empty X-Swap-Form', '/api/v2/currencies', { 'x-swap-form': '' }, defaultForm],
      ['X-Swap-Form of no form on a mount', '/b/api/v2/currencies', { 'x-swap-form': 'x' }, 'B'],
      ['X-Swap-Form B on the mount of A', '/a/api/v2/currencies', { 'x-swap-form': 'B' }, 'A'],
      ['X-Swap-Form A on the mount of B', '/b/api/v2/currencies', { 'x-swap-form': 'A' }, 'B'],
      ['both credentials on the bare mount', '/api/v2/currencies', { ...bearer, ...apiKey }, defaultForm],
      ['both credentials on /a', '/a/api/v2/transactions', { ...bearer, ...apiKey }, 'A'],
      ['both credentials on /b', '/b/api/v2/transactions', { ...bearer, ...apiKey }, 'B'],
    ]
    test.each(refused)('%s is refused with 400', async (_, path, headers, form) => {
      expectRefusal(await sendRequest(pair.gateway.url, { path, headers }), form, 400)
      expect(pair.provider.journal).toEqual([])
    })

    const schemes = ['Basic eDp5', 'Token k', key, ''] as const
    test.each(schemes)('"Authorization: %s" on the bare mount is a malformed key: 401, never sent up', async (authorization) => {
      const at = (path: string): Promise<ReceivedResponse> => sendRequest(pair.gateway.url, { path, headers: { authorization } })
      expectRefusal(await at('/api/v2/transactions'), defaultForm, 401, 'key_invalid')
      expectRefusal(await at('/api/v2/transactions/alpha~1'), defaultForm, 401, 'key_invalid')
      expect(pair.provider.journal).toEqual([])
      expect((await at('/api/v2/currencies')).status).toBe(200)
      expectRefusal(await at('/b/api/v2/transactions'), 'B', 401, 'key_missing')
      expectRefusal(await sendRequest(pair.gateway.url, { path: '/api/v2/transactions' }), defaultForm, 401, 'key_missing')
    })
  })
}

describe('whatever the form', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const twice: readonly (readonly [string, string])[] = ['/a', '/b', ''].flatMap((mount) => [
    [mount, `Authorization: Bearer ${key}`] as const,
    [mount, `X-API-Key: ${key}`] as const,
    [mount, `X-Swap-Form: ${mount === '/b' ? 'B' : 'A'}`] as const,
  ])
  test.each(twice)('on the mount "%s" the header %s sent twice is refused with 400', async (mount, line) => {
    const bytes = `GET ${mount}/api/v2/transactions HTTP/1.1\r\nHost: gateway\r\n${line}\r\n${line}\r\nConnection: close\r\n\r\n`
    expect((await sendRaw(pair.gateway.port, bytes)).status).toBe(400)
    expect(pair.provider.journal).toEqual([])
  })

  test('a credential is read from the header of the client form only', async () => {
    expectRefusal(await sendRequest(pair.gateway.url, { path: '/a/api/v2/transactions', headers: apiKey }), 'A', 401)
    expectRefusal(await sendRequest(pair.gateway.url, { path: '/b/api/v2/transactions', headers: bearer }), 'B', 401)
    expect(pair.provider.journal).toEqual([])
  })

  test('the bare mount has Vary, and the other mounts do not', async () => {
    for (const path of ['/api/v2/currencies', '/api/v2/nothing', '/api/v2/transactions']) {
      const { headers } = await sendRequest(pair.gateway.url, { path })
      expect(headers.vary).toBe('X-Swap-Form, Authorization, X-API-Key')
    }
    for (const path of ['/a/api/v2/currencies', '/b/api/v2/currencies']) {
      expect((await sendRequest(pair.gateway.url, { path })).headers.vary).toBeUndefined()
    }
  })

  test('what is created in one form is read in the other with the same key', async () => {
    const body = JSON.stringify({ coinFrom: 'BTC', coinTo: 'ETH', amount: 1, withdrawalAddress: 'w-1' })
    const headers = { ...bearer, 'content-type': 'application/json' }
    const created = await pair.witness.sendRequest(pair.gateway.url, {
      method: 'POST',
      path: '/a/api/v2/transactions',
      headers,
      body,
    })
    const { id } = created.json as { readonly id: string }
    const read = await pair.witness.sendRequest(pair.gateway.url, { path: `/b/api/v2/transactions/${id}`, headers: apiKey })
    expect(read.status).toBe(200)
    expect((read.json as { readonly id: string }).id).toBe(id)
  })
})
