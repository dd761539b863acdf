/** docs/contract.md §7: a key that has a row in the ledger is verified, also after a restart; others are unverified. */
import { afterEach, expect, test } from 'vitest'
import { orderIn } from '../support/managed.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'

let place: Passthrough
afterEach(() => place[Symbol.asyncDispose]())

test('A10: each address has few guesses, and they do not affect a key in the ledger', async () => {
  place = await startPassthrough('alpha')
  const known = await place.gateway.freshKey()
  expect((await place.client('A').post('/transactions', orderIn('A'), { key: known })).status).toBe(201)
  await place.restart()
  const refused = { status: 401, json: { error: 'Unauthorized', message: 'Invalid API key', code: 401 } }
  place.alpha.reply('list', ({ headers }) => (headers.authorization === `Bearer ${known}` ? undefined : refused))
  const statuses: number[] = []
  for (let at = 0; at < 30; at++) statuses.push((await place.client('A').get('/transactions', { key: `guess-${at}` })).status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect(place.alpha.received('list')).toHaveLength(20)
  for (let at = 0; at < 3; at++) expect((await place.client('A').get('/transactions', { key: known })).status).toBe(200)
})
