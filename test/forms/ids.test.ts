/** docs/contract.md §4: transaction ids and their tags. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { type Pair, pairs, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(() => pair.provider.reset())
  afterAll(() => pair.close())

  const own = [
    'plain',
    'a~b',
    '~',
    'with space',
    'a/b',
    '../admin',
    'a?b=c',
    'a#b',
    'ü',
    '日本',
    '%2F',
    '...',
    'a+b',
    '"',
    '💱',
    'x'.repeat(256),
  ]
  test.each(own.map((id) => [id.slice(0, 12), id] as const))(
    'the id %j of the provider is sent as one segment and returned with its tag',
    async (_, id) => {
      pair.provider.holdings.swaps = [swap({ id })]
      const response = await pair.client.get(`/transactions/${encodeURIComponent(`alpha~${id}`)}`)
      expect(response.status, response.text).toBe(200)
      expect(response.json).toMatchObject({ id: `alpha~${id}` })
      const [received] = pair.provider.received('get')
      expect(received?.path.split('/')).toHaveLength(3)
      expect(decodeURIComponent(received?.path.slice('/transactions/'.length) ?? '')).toBe(id)
      expect(received?.path).toMatch(/^[\x21-\x7e]+$/)
      expect(received?.rawQuery).toBe('')
    },
  )

  test('an id is handed out only if it can be read, however its characters are counted', async () => {
    const id = '💱'.repeat(200)
    pair.provider.holdings.swaps = [swap({ id })]
    const listed = await pair.client.get('/transactions', { key: await pair.gateway.freshKey() })
    const read = await pair.client.get(`/transactions/${encodeURIComponent(`alpha~${id}`)}`)
    expect([200, 502]).toContain(listed.status)
    expect(read.status === 200).toBe(listed.status === 200)
  })

  const unfit: readonly (readonly [string, string])[] = [
    ['of another provider', 'beta~tx-1'],
    ['of a tag in upper case', 'ALPHA~tx-1'],
    ['of an empty tag', '~tx-1'],
    ['of a tag that begins the same', 'alph~tx-1'],
    ['without a tag', 'tx-1'],
    ['that is the tag alone', 'alpha'],
    ['that is empty behind the tag', 'alpha~'],
    ['. behind the tag', 'alpha~.'],
    ['.. behind the tag', 'alpha~..'],
    ['%2e%2e behind the tag', 'alpha~%2e%2e'],
    ['over 256 characters', `alpha~${'x'.repeat(257)}`],
    ['with a NUL', 'alpha~a%00b'],
    ['with a line feed', 'alpha~a%0Ab'],
    ['with DEL', 'alpha~a%7Fb'],
    ['with a C1 control', 'alpha~a%C2%85b'],
    ['of broken escapes', 'alpha~%E0%A4%A'],
    ['of escapes that are not UTF-8', 'alpha~%ff'],
    ['a bare percent', 'alpha~%'],
    ['..', '..'],
    ['.', '.'],
    ['%2e%2e', '%2e%2e'],
    ['empty', ''],
    ['with a slash', 'alpha~a/b'],
  ]
  test.each(unfit)('an id %s is 404 and nothing is sent', async (_, id) => {
    pair.provider.holdings.swaps = [swap({ id: 'tx-1' })]
    expectRefusal(await pair.client.get(`/transactions/${id}`), form, 404)
    expect(pair.provider.journal).toEqual([])
  })

  test("an id that the provider lacks is the provider's 404", async () => {
    const message = expectRefusal(await pair.client.get('/transactions/alpha~missing'), form, 404)
    expect(message).toBe('Transaction not found')
  })

  test('the tag of the configuration is used, and not the name', async () => {
    const tagged = await startPair(form, provider, { provider: { name: 'Long-Provider-Name', tag: 'p1' } })
    tagged.provider.holdings.swaps = [swap()]
    const known = await tagged.client.get('/transactions/p1~tx-1')
    const byName = await tagged.client.get('/transactions/Long-Provider-Name~tx-1')
    const list = await tagged.client.get('/transactions')
    await tagged.close()
    expect(known.json).toMatchObject({ id: 'p1~tx-1' })
    expect(known.headers['x-swap-provider']).toBe('p1')
    expectRefusal(byName, form, 404)
    expect(list.json).toMatchObject({ data: [{ id: 'p1~tx-1' }] })
  })

  test('an id without a tag belongs to routing.untagged and is returned as it was sent', async () => {
    const routing = { providers: ['alpha'], untagged: 'alpha' }
    const open = await startPair(form, provider, { sections: { routing } })
    open.provider.holdings.swaps = [swap({ id: 'old-1' })]
    open.witness.excuse('I11', 'The checker handles only ids with a tag, and this one is from before the gateway.')
    const untagged = await open.client.get('/transactions/old-1')
    const tagged = await open.client.get('/transactions/alpha~old-1')
    const unknownTag = await open.client.get('/transactions/beta~old-1')
    const dots = await open.client.get('/transactions/%2e%2e')
    await open.close()
    expect(untagged.json).toMatchObject({ id: 'old-1' })
    expect(tagged.json).toMatchObject({ id: 'alpha~old-1' })
    expectRefusal(unknownTag, form, 404)
    expectRefusal(dots, form, 404)
    expect(open.provider.received('get')).toHaveLength(2)
  })
})
