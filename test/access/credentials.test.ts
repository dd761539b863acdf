/** With issued keys: what is a key and what is an id, and nothing else is. */
import { afterEach, describe, expect, test } from 'vitest'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { credential, type FormName, formNames } from '../support/pair.ts'
import { type RawResponse, sendRaw } from '../support/raw.ts'

let managed: Managed
afterEach(() => managed.close())

const mountOf = (form: FormName): string => `/${form.toLowerCase()}/api/v2`
const headerOf = (form: FormName, key: string): string =>
  Object.entries(credential(form, key))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const create = (form: FormName, key: string, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key })
const upstream = (): number => managed.alpha.journal.length + managed.beta.journal.length

describe.each(formNames)('form %s', (form) => {
  const start = async (): Promise<string> => {
    managed = await startManaged()
    return await managed.issue()
  }
  const raw = (target: string, headers: string): Promise<RawResponse> =>
    sendRaw(managed.gateway.port, `GET ${mountOf(form)}${target} HTTP/1.1\r\nHost: gateway\r\n${headers}Connection: close\r\n\r\n`)

  test('A5: no spelling of an id leaves its place', async () => {
    const key = await start()
    const ids = [
      '../currencies',
      '..%2fcurrencies',
      'alpha~../../currencies',
      'alpha~..%2f..%2fcurrencies',
      'alpha~%2e%2e',
      'alpha~.',
      'alpha~',
      'alpha~tx%00',
      'alpha~tx%0d%0aX-Evil:%201',
      'alpha~tx%3fa=b',
      'alpha~tx%23a',
      'alpha~%',
      'alpha~%ff',
      `alpha~${'x'.repeat(257)}`,
      `alpha~${'x'.repeat(7_000)}`,
      'alpha~%F0%9F%92%B1',
      'ALPHA~tx-1',
      '~tx-1',
      "alpha~' OR 1=1 --",
    ]
    for (const id of ids) {
      const { status } = await raw(`/transactions/${id.replaceAll(' ', '%20')}`, headerOf(form, key))
      expect([400, 404], id.slice(0, 40)).toContain(status)
    }
    expect((await raw(`/transactions/${'x'.repeat(10_000)}`, headerOf(form, key))).status).toBe(414)
    expect(upstream()).toBe(0)
  })

  test('A8: two keys are no key, whichever would be right', async () => {
    const key = await start()
    const other = await managed.issue()
    const both = formNames.map((name) => headerOf(name, name === form ? key : other)).join('')
    expect((await raw('/transactions', both)).status).toBe(400)
    expect((await raw('/transactions', headerOf(form, key) + headerOf(form, other))).status).toBe(400)
    expect((await raw('/transactions', headerOf(form, key) + headerOf(form, key))).status).toBe(400)
    expect((await raw('/transactions', headerOf(form, `${key}, ${other}`))).status).toBe(401)
    expect((await raw('/transactions', headerOf(form, `${key},${other}`))).status).toBe(401)
    expect((await raw('/transactions', headerOf(form, key))).status).toBe(200)
    expect(upstream()).toBe(0)
  })

  test("A8: the other form's header is no key on this mount", async () => {
    const key = await start()
    expect((await raw('/transactions', headerOf(form === 'A' ? 'B' : 'A', key))).status).toBe(401)
  })

  test('A9: a key in the query or the body is none, and is never repeated', async () => {
    const key = await start()
    for (const name of ['key', 'api_key', 'apiKey', 'access_token', 'X-API-Key', 'authorization']) {
      const path = `/transactions?${name}=${key}`
      expectRefusal(await managed.client(form).get(path, { key: null }), form, 401)
      const unknown = await managed.client(form).get(path, { key })
      expectRefusal(unknown, form, 400)
      const body = await managed.client(form).post('/transactions', orderIn(form, { [name]: key }), { key: null })
      expectRefusal(body, form, 401)
      const refused = await create(form, key, { [name]: key })
      expectRefusal(refused, form, 400)
      expect(JSON.stringify([unknown.text, refused.text, managed.gateway.observations])).not.toContain(key)
    }
    expect(upstream()).toBe(0)
  })

  test('A7: the scheme of form A matches in any case; anything else is 401', async () => {
    const key = await start()
    const path = `${mountOf('A')}/transactions`
    const status = async (authorization: string): Promise<number> =>
      (await sendRequest(managed.gateway.url, { path, headers: { authorization } })).status
    for (const good of [`bearer ${key}`, `BEARER ${key}`, `Bearer  ${key}`]) expect(await status(good)).toBe(200)
    for (const bad of ['', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`, `Bearer ${key} x`, `Bearer "${key}"`])
      expect(await status(bad), bad).toBe(401)
  })
})
