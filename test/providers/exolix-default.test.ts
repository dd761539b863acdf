/** docs/contract.md §2: the bare mount where `defaultForm` is Exolix. */
import { describe, expect, it } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { digits } from '../support/json.ts'
import { startManaged } from '../support/managed.ts'

describe.each(['exolix', 'Exolix'])('defaultForm: %s', (defaultForm) => {
  it('P40: a plain key on the bare mount is that of Exolix; a bearer token and X-API-Key are those of A and B', async () => {
    await using managed = await startManaged({ sections: { defaultForm } })
    const key = await managed.issue()
    const at = async (path: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const response = await sendRequest(managed.gateway.url, { path: `/api/v2${path}`, headers })
      return [response.status, response.headers['x-swap-form']]
    }
    const quote = '/rate?coinFrom=BTC&networkFrom=BTC&coinTo=USDT&networkTo=TRX&amount=0.1'
    for (const path of ['/transactions', quote]) expect(await at(path, { authorization: key })).toEqual([200, 'exolix'])
    expect(await at('/transactions', { authorization: `bearer ${key}` })).toEqual([200, 'A'])
    expect(await at('/transactions', { 'x-api-key': key })).toEqual([200, 'B'])
    expect(await at('/currencies', {})).toEqual([200, 'exolix'])
    expect(await at(quote, {})).toEqual([200, 'B'])
    expect(await at('/transactions', { authorization: `Basic ${key}` })).toEqual([401, 'exolix'])
    expect(await at('/transactions', {})).toEqual([401, 'exolix'])
  })

  it('P40: what is outside of the mounts is refused in the form of Exolix', async () => {
    await using managed = await startManaged({ sections: { defaultForm } })
    const refused = await sendRequest(managed.gateway.url, { path: '/nowhere' })
    expect([refused.status, refused.headers['x-swap-form']]).toEqual([404, 'exolix'])
    expect(refused.json).toMatchObject({ status: digits('404'), errors: {} })
  })
})

it('P40: elsewhere a plain key is a malformed one', async () => {
  await using managed = await startManaged({ sections: { defaultForm: 'B' } })
  const headers = { authorization: await managed.issue() }
  expectRefusal(await sendRequest(managed.gateway.url, { path: '/api/v2/transactions', headers }), 'B', 401, 'key_invalid')
})
