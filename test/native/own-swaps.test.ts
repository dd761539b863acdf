/** docs/contract.md §11: no call of the native lane names a swap of another account. */
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { facts } from '../ledger/samples.ts'
import { errorFacts, type NativeRig, refusal, startRig } from './rig.ts'

const native = ['GET /swaps/{id}/actions', 'POST /swaps/{id}/refund', 'GET /notes/{}', 'GET /report', 'GET /swaps/{id}/of/{}']

async function startOwned(): Promise<NativeRig & { readonly otherKey: string }> {
  const rig = await startRig({ facts: { native } })
  const otherKey = await rig.gateway.issueKey('umbra')
  const ownerOf = async (key: string): Promise<string> => {
    const digest = hash('sha256', key)
    return (await rig.gateway.accounts.findKeys([digest])).get(digest)?.identity ?? ''
  }
  await rig.gateway.ledger.upsert(await ownerOf(rig.key), 'alpha', facts('mine'))
  await rig.gateway.ledger.upsert(await ownerOf(otherKey), 'alpha', facts('theirs'))
  return Object.assign(rig, { otherKey })
}

test('{id} is a swap of the account that calls: any other is 404, as a get is, and nothing is sent', async () => {
  await using rig = await startOwned()
  for (const form of ['A', 'B'] as const) {
    for (const id of ['theirs', 'nobodys', 'alpha~mine', 'alpha~theirs', 'MINE'])
      expect(errorFacts(await rig.send(`/swaps/${id}/actions`, { form }))).toEqual(refusal(404, 'not_found', form))
  }
  expect(errorFacts(await rig.send('/swaps/theirs/refund', { method: 'POST', body: '{}' }))).toEqual(refusal(404, 'not_found'))
  expect(rig.provider.arrived).toEqual([])
  expect((await rig.send('/swaps/mine/actions')).status).toBe(200)
  expect((await rig.send('/swaps/mine/refund', { method: 'POST', body: '{}' })).status).toBe(200)
  expect((await rig.send('/swaps/theirs/actions', { key: rig.otherKey })).status).toBe(200)
  expect(rig.provider.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /service/api/v2/swaps/mine/actions',
    'POST /service/api/v2/swaps/mine/refund',
    'GET /service/api/v2/swaps/theirs/actions',
  ])
})

test('a path with {} and a query may name what is no swap, or one’s own, and no swap of another', async () => {
  await using rig = await startOwned()
  const refused = [
    '/notes/theirs',
    '/report?id=theirs',
    '/report?a=1&id=%74heirs',
    '/swaps/mine/of/theirs',
    '/swaps/mine/of/a?b=theirs',
    '/report?ids=mine,theirs',
    '/report?ids=%20theirs%7Cmine',
    '/report?filter=%7B%22id%22%3A%22theirs%22%7D',
    '/notes/theirs.json',
  ]
  for (const path of refused) expect(errorFacts(await rig.send(path))).toEqual(refusal(404, 'not_found'))
  expect(rig.provider.arrived).toEqual([])
  for (const path of [
    '/notes/mine',
    '/notes/BTC',
    '/report',
    '/report?id=mine&of=BTC',
    '/report?ids=mine,BTC',
    '/swaps/mine/of/mine',
  ])
    expect((await rig.send(path)).status).toBe(200)
})

test('a key is asked for before an id is', async () => {
  await using rig = await startOwned()
  expect(errorFacts(await rig.send('/swaps/theirs/actions', { key: null }))).toEqual(refusal(401, 'key_missing'))
})

test('no provider gets the key of the client in a query', async () => {
  await using rig = await startOwned()
  for (const query of [`apiToken=${rig.key}`, `a=1&b=%${rig.key.charCodeAt(0).toString(16)}${rig.key.slice(1)}`])
    expect((await rig.send(`/report?${query}`)).status).toBe(400)
  expect(rig.provider.arrived).toEqual([])
})
