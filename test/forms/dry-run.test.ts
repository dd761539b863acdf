/** `limits.dryRun`: limits that only count. */
import { expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { rateQuery, startPair } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

const limits = { quotes: 2, create: 1, read: 1, unverified: 1, dryRun: true }
const request = rateQuery('A', { from: assets.btc, to: assets.eth, amount: '1' })

test('no request is refused, the headers have the limit, and would-be refusals are counted', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  const responses = []
  for (let call = 0; call < 4; call++) responses.push(await pair.client.get(request))
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(responses.map(({ headers }) => String(headers.ratelimit).split(';')[1])).toEqual(['r=1', 'r=0', 'r=0', 'r=0'])
  expect(responses[3]?.headers['ratelimit-policy']).toBe('"quotes";q=2;w=60')
  expect(responses[3]?.headers['retry-after']).toBeUndefined()
  const decisions = pair.gateway.observations.filter(({ what }) => what === 'limit')
  const decided = (decision: string) => ({ what: 'limit', policy: 'quotes', decision })
  expect(decisions).toEqual(['admitted', 'near', 'dry_run', 'dry_run'].map(decided))
  await pair.close()
})

test('a client without a key still gets 401, any number of times', async () => {
  const pair = await startPair('A', 'A', { sections: { limits } })
  for (let call = 0; call < 25; call++) expectRefusal(await pair.client.get('/transactions', { key: null }), 'A', 401)
  expect(pair.gateway.observations).toContainEqual({ what: 'limit', policy: 'unverified', decision: 'dry_run' })
  await pair.close()
})
