/** docs/contract.md §11: no call of the native lane names a swap of another account. */
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { facts } from '../ledger/samples.ts'
import { sendRaw } from '../support/raw.ts'
import { errorFacts, type NativeRig, refusal, startRig } from './rig.ts'

const native = [
  ...['GET /swaps/{id}/actions', 'POST /swaps/{id}/refund', 'GET /notes/{}', 'GET /report', 'GET /swaps/{id}/of/{}'],
  ...['POST /search', 'POST /notes/{}'],
]

interface OwnedRig extends NativeRig {
  readonly otherKey: string
  /** The account of the key has a swap with this id. */
  readonly hold: (key: string, id: string) => Promise<void>
}

async function startOwned(): Promise<OwnedRig> {
  const rig = await startRig({ facts: { native } })
  const otherKey = await rig.gateway.issueKey('umbra')
  const hold = async (key: string, id: string): Promise<void> => {
    const digest = hash('sha256', key)
    const owner = (await rig.gateway.accounts.findKeys([digest])).get(digest)?.identity ?? ''
    await rig.gateway.ledger.upsert(owner, 'alpha', facts(id))
  }
  await hold(rig.key, 'mine')
  await hold(otherKey, 'theirs')
  return Object.assign(rig, { otherKey, hold })
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

const uuid = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'

test.each([
  ['in capitals', uuid.toUpperCase()],
  ['without hyphens', uuid.replaceAll('-', '')],
  ['with the tag of the gateway', `alpha~${uuid}`],
  ['with an ending', `${uuid}.json`],
])('another’s swap is found %s, one’s own may be named so', async (_, id) => {
  await using rig = await startOwned()
  await rig.hold(rig.otherKey, uuid)
  for (const path of [`/notes/${id}`, `/report?id=${id}`]) {
    expect(errorFacts(await rig.send(path))).toEqual(refusal(404, 'not_found'))
    expect((await rig.send(path, { key: rig.otherKey })).status).toBe(200)
  }
})

test.each([
  ['in a list', `ids=x,${uuid}`],
  ['behind a space', `id=+${uuid}%20`],
  ['before a zero', `id=${uuid}%00`],
  ['in quotes', `id=%22${uuid}%22`],
  ['in JSON', `filter=%7B%22id%22:%22${uuid}%22%7D`],
  ['decoded twice', 'id=%2533f2504e0-4f89-41d3-9a0c-0305e82c3301'],
  ['as a name', uuid],
  ['as a short name', '41=1'],
  ['as a short name alone', '41'],
  ['as an id with a dot in a list', 'ids=x,41.abc'],
  ['behind a semicolon', `a=b;id=${uuid}`],
  ['in a path', `path=/orders/${uuid}`],
])('another’s swap is found in the query %s', async (_, query) => {
  await using rig = await startOwned()
  for (const id of [uuid, '41', '41.abc']) await rig.hold(rig.otherKey, id)
  expect(errorFacts(await rig.send(`/report?${query}`))).toEqual(refusal(404, 'not_found'))
  expect(rig.provider.arrived).toEqual([])
})

test('a query that names more than fifty that may be ids is refused, one of fifty is not', async () => {
  await using rig = await startOwned()
  const ids = (count: number): string => Array.from({ length: count }, (_, at) => `unknown${at + 100}`).join(',')
  expect((await rig.send(`/report?ids=${ids(50)}`)).status).toBe(200)
  expect((await rig.send(`/report?ids=${ids(51)}`)).status).toBe(400)
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

const bodiesOf = ({ provider }: OwnedRig): Promise<readonly string[]> =>
  Promise.all(provider.arrived.map(async ({ body }) => String(await body)))

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

test.each<[string, Readonly<Record<string, string>>, string]>([
  ['as a value of JSON', json, '{"id":"theirs"}'],
  ['in a list', json, '["mine", "theirs"]'],
  ['as the first of two members of a name', json, '{"id":"theirs","id":"mine"}'],
  ['in letters by number', json, '{"id":"\\u0074heirs"}'],
  ['in JSON that is broken', json, '{"id":"theirs"'],
  ['as a number', json, '{"id": 41}'],
  ['as a number with an exponent', json, '{"id": 4.1e1}'],
  ['as a number with a fraction', json, '{"id": 41.0}'],
  ['as a number with a long fraction', json, `{"id": 41.${'0'.repeat(90)}}`],
  ['as a text that is the whole body', json, '"theirs"'],
  ['as a UUID in capitals', json, `{"id":"${uuid.toUpperCase()}"}`],
  ['as a name', json, `{"${uuid}":1}`],
  ['as a short name', json, '{"41":1}'],
  ['as the name of a form', form, '41=1'],
  ['as all of a text', { 'content-type': 'text/plain' }, '41'],
  ['as an id with a dot in a list', json, '{"ids":"x,41.abc"}'],
  ['in XML', { 'content-type': 'application/xml' }, '<id>41</id>'],
  [
    'in a form with a file',
    { 'content-type': 'multipart/form-data; boundary=b' },
    `--b\r\n\r\n\x01\r\n--b\r\n\r\n${uuid}\r\n--b--`,
  ],
  ['as a value of a form', form, 'a=b&id=%74heirs'],
  ['in JSON in a form', form, `a=${encodeURIComponent(`{"id":"${uuid}"}`)}`],
  ['in JSON that is said to be bytes', { 'content-type': 'application/octet-stream' }, '{"id":"theirs"}'],
  ['in JSON of no type', {}, '{"id":"theirs"}'],
  ['in chunks', { ...json, 'transfer-encoding': 'chunked' }, '{"id":"theirs"}'],
])('another’s swap is found in a body %s, one’s own may be named so', async (_, headers, body) => {
  await using rig = await startOwned()
  await rig.hold(rig.otherKey, uuid)
  for (const id of ['41', '41.abc']) await rig.hold(rig.otherKey, id)
  for (const path of ['/search', '/swaps/mine/refund', '/notes/a'])
    expect(errorFacts(await rig.send(path, { method: 'POST', headers, body }))).toEqual(refusal(404, 'not_found'))
  expect(rig.provider.arrived).toEqual([])
  const own = body.replaceAll('mine', 'theirs')
  expect((await rig.send('/search', { method: 'POST', headers, body: own, key: rig.otherKey })).status).toBe(200)
  expect(await bodiesOf(rig)).toEqual([own])
})

test('a body that names no swap of another goes up byte for byte', async () => {
  await using rig = await startOwned()
  const bodies = ['{ "id" : "mine", "amount": 0.10, "note": "für é" }', 'id=mine&a=%20b', '', 'x'.repeat(65_536)]
  for (const body of bodies)
    expect((await rig.send('/swaps/mine/refund', { method: 'POST', headers: json, body })).status).toBe(200)
  expect(await bodiesOf(rig)).toEqual(bodies)
})

test('after a body that was refused the connection goes on', async () => {
  await using rig = await startOwned()
  const long = `{"id":"theirs","note":"${'x'.repeat(60_000)}"}`
  const head = (length: number): string =>
    rig.head('POST /native/alpha/search', 'content-type: application/json', `content-length: ${length}`)
  const last = rig.head('GET /native/alpha/report', 'connection: close')
  const { text } = await sendRaw(rig.gateway.port, `${head(long.length)}${long}${head(2)}{}${last}`)
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['404', '200', '200'])
})

test('a body in chunks of one byte goes up whole, and is looked into', async () => {
  await using rig = await startOwned()
  const head = rig.head('POST /native/alpha/search', 'transfer-encoding: chunked', 'connection: close')
  for (const [id, status] of [
    ['mine', 200],
    ['theirs', 404],
  ] as const) {
    const body = `{"id":"${id}","note":"${'x'.repeat(30_000)}"}`
    const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join('')
    expect((await sendRaw(rig.gateway.port, `${head}${chunks}0\r\n\r\n`, 3_000)).status).toBe(status)
    if (status === 200) expect(await bodiesOf(rig)).toEqual([body])
  }
})

test('a longer body, and one with a coding, is 413 where the path names a swap, and streams elsewhere', async () => {
  await using rig = await startOwned()
  const long = `{"a":"${'é'.repeat(40_000)}"}`
  const bodies = [
    { headers: json, body: long },
    { headers: { ...json, 'content-encoding': 'gzip' }, body: 'not looked into' },
  ]
  for (const sent of bodies) {
    for (const path of ['/swaps/mine/refund', '/notes/a'])
      expect(errorFacts(await rig.send(path, { method: 'POST', ...sent }))).toEqual(refusal(413, 'too_large'))
    expect((await rig.send('/search', { method: 'POST', ...sent })).status).toBe(200)
  }
  expect(await bodiesOf(rig)).toEqual(bodies.map(({ body }) => body))
})

test('bytes that are no text stream, also where the path names a swap; what is declared as text must be UTF-8', async () => {
  await using rig = await startOwned()
  const image = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]), Buffer.alloc(200_000, 0xfe)])
  const sent = { method: 'POST', headers: { 'content-type': 'image/png' }, body: image }
  expect((await rig.send('/swaps/mine/refund', sent)).status).toBe(200)
  expect(await rig.provider.arrived[0]?.body).toEqual(image)
  const wide = { method: 'POST', headers: json, body: Buffer.from('{"id":"theirs"}', 'utf16le') }
  expect(errorFacts(await rig.send('/search', wide))).toEqual(refusal(400, 'body_invalid'))
  const marked = { method: 'POST', headers: { 'content-type': 'application/xml' }, body: '<id>\u000btheirs</id>' }
  expect(errorFacts(await rig.send('/search', marked))).toEqual(refusal(400, 'body_invalid'))
  expect(rig.provider.arrived).toHaveLength(1)
})

test('no provider gets the key of the client in a body', async () => {
  await using rig = await startOwned()
  const bodies = [`{"apiToken":"${rig.key}"}`, `apiToken=%${rig.key.charCodeAt(0).toString(16)}${rig.key.slice(1)}`]
  for (const body of bodies) expect((await rig.send('/search', { method: 'POST', headers: json, body })).status).toBe(400)
  expect(rig.provider.arrived).toEqual([])
})
