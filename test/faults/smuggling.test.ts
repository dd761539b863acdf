// Takes long: it checks after a wait that a connection stays open.
/**
 * H1: bytes that two HTTP parsers read as different requests. `smuggling/` has them as they are sent; each ends with a
 * request.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectErrorBody } from '../support/expectations.ts'
import { readJson } from '../support/json.ts'
import { sendRaw } from '../support/raw.ts'
import { sharedPair } from '../support/shared-pair.ts'

const corpus = `${import.meta.dirname}/smuggling`
const namesIn = (folder: string): readonly string[] => readdirSync(`${corpus}/${folder}`).map((file) => file.replace('.raw', ''))
const bytesOf = (folder: string, name: string): Uint8Array => readFileSync(`${corpus}/${folder}/${name}.raw`)

const pair = sharedPair()

const wentUp = (): readonly string[] =>
  pair()
    .provider.journal.map(({ operation }) => operation)
    .filter((operation) => operation !== 'currencies')
const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

test.each(namesIn('refused'))('H1: %s is 400 once, the connection is closed, and nothing is sent', async (name) => {
  const { text, body, closed } = await sendRaw(pair().gateway.port, bytesOf('refused', name))
  expect(statusesIn(text)).toEqual([400])
  expectErrorBody(readJson(body), 'A', 400)
  expect(closed).toBe(true)
  expect(wentUp()).toEqual([])
})

/** The create that these responses begin with; the files have the same. */
function witnessCreate(responses: string): void {
  const body = JSON.stringify({ coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 1, withdrawalAddress: 'w-1' })
  const id = /^x-request-id: (\S+)/im.exec(responses)?.[1] ?? ''
  const headers = { authorization: 'Bearer canary-client-key-1', 'x-request-id': id }
  pair().witness.pending({ method: 'POST', path: '/a/api/v2/transactions', headers, body })
}

const taken: readonly (readonly [name: string, statuses: readonly number[], up: readonly string[]])[] = [
  ['te-mixed-case', [201, 200], ['create', 'list']],
  ['te-behind-a-tab', [201, 200], ['create', 'list']],
  ['te-with-underscore', [201, 200], ['create', 'list']],
  ['chunk-extension', [201, 200], ['create', 'list']],
  ['cl-on-get', [200, 200], ['list', 'list']],
  ['te-on-get', [200, 200], ['list', 'list']],
  ['cl-zero-with-early-answer', [405, 200], ['list']],
  ['empty-lines-before', [200, 200], ['list', 'list']],
]
test.each(taken)('H1: the response to %s is %j, and the calls are %j', async (name, statuses, up) => {
  const { text } = await sendRaw(pair().gateway.port, bytesOf('taken', name))
  expect(statusesIn(text)).toEqual(statuses)
  if (up.includes('create')) witnessCreate(text)
  expect(wentUp().toSorted()).toEqual(up)
})

test('H1: the whole corpus is sent', () => {
  expect(namesIn('taken').toSorted()).toEqual(taken.map(([name]) => name).toSorted())
})
