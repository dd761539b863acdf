/** Rows V of the reliability matrix. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answered, ask } from '../support/client.ts'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB } from '../support/form-b.ts'
import { credential, formNames, type Pair, pairWords, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'
import { assets, swap } from '../support/swaps.ts'

const key = 'canary-client-key-1'
const { btc, usdtTrx } = assets

describe.each(formNames)('client %s', (form) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, form)
  })
  beforeEach(() => {
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
  })
  afterEach(async () => {
    await expectAlive(pair.client)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
  afterAll(() => pair.close())

  const question: Record<string, string> = { ...pairWords(form, btc, usdtTrx), amount: '1', rateType: 'fixed' }
  const order = (facts: object = {}): Record<string, unknown> => ({
    ...pairWords(form, btc, usdtTrx),
    amount: 1,
    withdrawalAddress: 'TWithdraw1',
    ...facts,
  })
  const create = (body: unknown, headers: Record<string, string> = {}): Promise<Answered> =>
    pair.client.post('/transactions', body, { headers })
  const bytes = (body: Uint8Array, headers: Record<string, string> = {}): Promise<Answered> =>
    ask(pair.gateway.url, {
      method: 'POST',
      path: `/${form.toLowerCase()}/api/v2/transactions`,
      headers: { ...credential(form, key), 'content-type': 'application/json', ...headers },
      body,
    })
  const expectRefused = (answer: Answered, status = 400): string => {
    const message = expectRefusal(answer, form, status)
    expect(pair.provider.journal).toEqual([])
    return message
  }

  const required = ['coinFrom', 'coinTo', 'amount']
  test.each(Object.keys(question))('V1: the parameter %s missing, empty, repeated or bracketed is 400 and named', async (name) => {
    const { [name]: value = '', ...rest } = question
    const others = new URLSearchParams(rest).toString()
    if (required.includes(name)) expect(expectRefused(await pair.client.get(`/rate?${others}`))).toContain(name)
    expect(expectRefused(await pair.client.get(`/rate?${others}&${name}=`))).toContain(name)
    expect(expectRefused(await pair.client.get(`/rate?${others}&${name}`))).toContain(name)
    expect(expectRefused(await pair.client.get(`/rate?${others}&${name}=${value}&${name}=${value}`))).toContain(name)
    for (const odd of [`${name}[]`, `${name}[0]`, `${name}[a]`, `${name}.a`]) {
      expect(expectRefused(await pair.client.get(`/rate?${others}&${name}=${value}&${odd}=${value}`))).toContain(name)
    }
  })

  test('V1: a parameter repeated in disguise is 400', async () => {
    const query = new URLSearchParams(question)
    expect(expectRefused(await pair.client.get(`/rate?${query}&%61mount=2`))).toContain('amount')
    expect(expectRefused(await pair.client.get(`/rate?${query}&coin%46rom=ETH`))).toContain('coinFrom')
  })

  test('V1: a parameter in a path or query that is not UTF-8 is 400', async () => {
    expectRefused(await pair.client.get(`/rate?${new URLSearchParams(question)}&x=%ff`))
    expectRefused(await pair.client.get('/currencies?search=%E0%A4%A'))
  })

  const members = Object.keys({ ...order(), refundAddress: '', rateType: '' })
  test.each(members)('V1: the member %s of another type is 400 and named', async (name) => {
    const wrong = name === 'amount' ? ['1', '', null, true, [1], {}] : [1, null, true, ['x'], {}, '']
    for (const value of wrong) expect(expectRefused(await create(order({ [name]: value })))).toContain(name)
    const isRequired = name in order()
    if (isRequired) expect(expectRefused(await create(order({ [name]: undefined })))).toContain(name)
  })

  const good = JSON.stringify({ coinFrom: 'BTC' })
  const corpus: readonly (readonly [string, string | Uint8Array])[] = [
    ['truncated', good.slice(0, -1)],
    ['a trailing comma', `${good.slice(0, -1)},}`],
    ['a second document', `${good}${good}`],
    ['single quotes', good.replaceAll('"', "'")],
    ['an unquoted key', '{coinFrom:1}'],
    ['a NUL', `${good}\u0000`],
    ['a raw control character', '{"coinFrom":"B\nTC"}'],
    ['a lone surrogate', '{"coinFrom":"\\ud800"}'],
    ['a bad escape', '{"coinFrom":"\\x41"}'],
    ['a byte order mark', `\ufeff${good}`],
    ['invalid UTF-8', Buffer.concat([Buffer.from('{"coinFrom":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])],
    ['overlong UTF-8', Buffer.concat([Buffer.from('{"coinFrom":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    ['a surrogate in UTF-8', Buffer.concat([Buffer.from('{"coinFrom":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['NaN', '{"amount":NaN}'],
    ['nothing but spaces', '   '],
    ['a form', 'coinFrom=BTC&coinTo=ETH'],
  ]
  test.each(corpus)('V2: a body with %s is 400 without an echo', async (_, body) => {
    const answer = await bytes(Buffer.from(body))
    expectRefused(answer)
    expect(answer.text).not.toMatch(/BTC|\bat \w+ \(|\.ts:|SyntaxError/)
  })

  const types = [
    '',
    'text/plain',
    'text/json',
    'application/xml',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16',
  ]
  const oddTypes = [
    'application/json; charset=iso-8859-1',
    'application/json, text/plain',
    'application/jsonp',
    'application/*',
    '*/*',
  ]
  test.each([...types, ...oddTypes])('V3: the content type "%s" is 415', async (type) => {
    expectRefused(await create(order(), { 'content-type': type }), 415)
  })

  test('V3: two content types are 415', async () => {
    const [name, value] = Object.entries(credential(form, key))[0] as [string, string]
    const head = [`POST /${form.toLowerCase()}/api/v2/transactions HTTP/1.1`, 'Host: g', `${name}: ${value}`, 'Content-Length: 2']
    const twice = [...head, 'Content-Type: application/json', 'Content-Type: text/plain', 'Connection: close']
    expect((await sendRaw(pair.gateway.port, `${twice.join('\r\n')}\r\n\r\n{}`)).status).toBe(415)
    expect(pair.provider.journal).toEqual([])
  })

  test.each(['null', '1', '"x"', 'true', '[]', '[{}]', '', '{}', '[[]]'])('V4: the body %j is 400', async (body) => {
    expectRefused(await create(body))
  })

  const raw = (lines: readonly string[], body: string): ReturnType<typeof sendRaw> => {
    const [name, value] = Object.entries(credential(form, key))[0] as [string, string]
    const head = [`POST /${form.toLowerCase()}/api/v2/transactions HTTP/1.1`, 'Host: g', 'Content-Type: application/json']
    return sendRaw(pair.gateway.port, `${[...head, `${name}: ${value}`, ...lines].join('\r\n')}\r\n\r\n${body}`, 200)
  }

  test.each(['16385', '10000000', '10737418240'])('V5: a declared body of %s bytes is 413 before it is sent', async (length) => {
    const answer = await raw([`Content-Length: ${length}`], '{')
    expect(answer.status).toBe(413)
    expect(answer.closed).toBe(true)
  })

  test('V5: a chunked body that never ends is 413 and its connection is closed', async () => {
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
    const answer = await raw(['Transfer-Encoding: chunked'], chunk.repeat(3))
    expect(answer.status).toBe(413)
    expect(answer.closed).toBe(true)
  })

  const bomb = Buffer.alloc(10_000_000, ' ')
  const encodings: readonly (readonly [string, Uint8Array])[] = [
    ['gzip', gzipSync(bomb)],
    ['deflate', deflateSync(bomb)],
    ['br', brotliCompressSync(bomb)],
    ['zstd', Buffer.from('{}')],
    ['x-unknown', Buffer.from('{}')],
    ['gzip, gzip', gzipSync(gzipSync(bomb))],
  ]
  test.each(encodings)('V6: a body of the encoding %s is 415 or 413', async (encoding, body) => {
    const answer = await bytes(body, { 'content-encoding': encoding })
    expect([413, 415]).toContain(answer.status)
    expectRefused(answer, answer.status)
  })

  test('V8: names of the prototype are unknown names, in body, query and header', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = JSON.stringify(order()).replace('{', `{"${name}":{"polluted":1},`)
      expect(expectRefused(await create(body))).toContain(name)
      const query = new URLSearchParams(question)
      expect(expectRefused(await pair.client.get(`/rate?${query}&${name}=1`))).toContain(name)
      expect(expectRefused(await pair.client.get(`/rate?${query}&${name}[polluted]=1`))).toContain(name)
      expect((await pair.client.get('/currencies', { headers: { [name]: 'polluted' } })).status).toBe(200)
      pair.provider.reset()
    }
  })

  test('V8: names of the prototype in the JSON of a provider are dropped', async () => {
    const facts = form === 'A' ? transactionA(swap()) : detailedB(swap())
    const names = '"__proto__":{"polluted":1,"status":"success"},"constructor":{"prototype":{"polluted":1}},'
    pair.provider.reply('get', { text: JSON.stringify(facts).replace('{', `{${names}`) })
    const answer = await pair.client.get('/transactions/alpha~tx-1')
    expect(answer.json).toMatchObject({ status: 'wait' })
    expect(answer.text).not.toContain('polluted')
  })

  const integers = [
    '1.5',
    '1e1',
    '%2B1',
    '+1',
    '01',
    '%201',
    '1%20',
    '9007199254740992',
    '-1',
    '0',
    'NaN',
    '0x1',
    '',
    '1,2',
    '１',
    '1.0',
  ]
  test.each(integers)('V9: the page or size "%s" is 400 and named', async (value) => {
    const encoded = encodeURI(decodeURI(value))
    for (const path of ['/currencies', '/transactions']) {
      for (const name of ['page', 'size'])
        expect(expectRefused(await pair.client.get(`${path}?${name}=${encoded}`))).toContain(name)
    }
  })

  test('V9: a size over 100 is 400', async () => {
    expect(expectRefused(await pair.client.get('/currencies?size=101'))).toContain('size')
    expect(expectRefused(await pair.client.get('/transactions?size=101'))).toContain('size')
  })

  const rateTypes = ['FIXED', 'Fixed', 'fixed ', ' float', 'float,fixed', '', 'fix', 'null', 'fixed\u0000', 'floаt']
  test.each(rateTypes)('V10: the rateType %j is 400 and named', async (rateType) => {
    const query = new URLSearchParams({ ...question, rateType })
    expect(expectRefused(await pair.client.get(`/rate?${query}`))).toContain('rateType')
    expect(expectRefused(await create(order({ rateType })))).toContain('rateType')
  })

  const fields = [
    'affiliate',
    'fee',
    'rate',
    'id',
    'status',
    'amountTo',
    'depositAddress',
    'withdrawalMemo',
    'extraId',
    'memo',
    'withdrawalAmount',
  ]
  test.each(fields)('V12: the member %s is refused by name and goes nowhere', async (name) => {
    expect(expectRefused(await create(order({ [name]: 'x' })))).toContain(name)
  })

  test('V13: a search is literal text, whatever it looks like', async () => {
    pair.provider.holdings.currencies = ['A.C', 'ABC', '100%', "O'X", 'A"B', '(X)', '\\d', '$^'].map((code) => ({
      code,
      name: `Name of ${code}`,
      icon: 'i',
      notes: '',
    }))
    const codes = async (word: string): Promise<unknown> => {
      const answer = await pair.client.get(`/currencies?search=${encodeURIComponent(word)}`)
      expect(answer.status, answer.text).toBe(200)
      return (answer.json as { data: { code: string }[] }).data.map(({ code }) => code)
    }
    expect(await codes('A.C')).toEqual(['A.C'])
    expect(await codes('.*')).toEqual([])
    expect(await codes('0%')).toEqual(['100%'])
    expect(await codes("'")).toEqual(["O'X"])
    expect(await codes('"')).toEqual(['A"B'])
    expect(await codes('(X)')).toEqual(['(X)'])
    expect(await codes('\\d')).toEqual(['\\d'])
    expect(await codes('(a+)+$')).toEqual([])
  })

  test('V13: a search of any characters and of 7 kB is answered', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), async (word) => {
        const answer = await pair.client.get(`/currencies?search=${encodeURIComponent(word)}`)
        expect([200, 400]).toContain(answer.status)
      }),
      { numRuns: 80 },
    )
    const answer = await pair.client.get(`/currencies?search=${'a'.repeat(7_000)}`)
    expect([200, 400]).toContain(answer.status)
  })

  const coins = [
    ' BTC',
    'BTC ',
    'B TC',
    '\tBTC',
    'BTC\u200b',
    '💰',
    'ВТС',
    'BTC\u0000',
    "BTC' OR 1=1",
    '../BTC',
    'x'.repeat(1_000),
    '__proto__',
  ]
  test.each(coins)('V14: the coin code %j is 400 and not asked for', async (code) => {
    const query = new URLSearchParams({ ...question, coinFrom: code })
    for (const answer of [await pair.client.get(`/rate?${query}`), await create(order({ coinFrom: code }))]) {
      expect(expectRefusal(answer, form, 400)).toContain('coinFrom')
    }
    expect(pair.provider.journal.filter(({ operation }) => operation !== 'currencies')).toEqual([])
  })

  test('V14: a created pair is the pair that was asked for, whatever the codes', async () => {
    const known = form === 'A' ? ['BTC', 'btc', 'Usdttrc20', 'XRP'] : ['BTC', 'btc', 'XRP']
    const code = fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 5 }))
    await fc.assert(
      fc.asyncProperty(code, async (coinFrom) => {
        const before = pair.provider.received('create').length
        const network = form === 'B' ? { networkFrom: coinFrom.toUpperCase() } : {}
        const { status } = await create(order({ coinFrom, ...network }))
        const sent = pair.provider.received('create').slice(before)
        expect(sent).toHaveLength(status < 300 ? 1 : 0)
        for (const { body } of sent) expect(JSON.parse(body)).toMatchObject({ coinFrom: coinFrom.toUpperCase() })
      }),
      { numRuns: 80 },
    )
  })
})

test('V7: deep and wide bodies are 400 and hold nobody up, also where large bodies are allowed', async () => {
  const pair = await startPair('A', 'A', { sections: { server: { maxBodyBytes: 1_048_576 } } })
  const members = Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join(',')
  const bodies = [
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `{${members}}`,
    `{"${'k'.repeat(1_000_000)}":1}`,
  ]
  for (const body of [...bodies, `[${'1,'.repeat(500_000)}1]`, `{"amount":${'1'.repeat(1_000_000)}}`]) {
    const before = performance.now()
    const [answer] = await Promise.all([pair.client.post('/transactions', body), expectAlive(pair.client)])
    expectRefusal(answer, 'A', 400)
    expect(performance.now() - before).toBeLessThan(500)
  }
  await pair.close()
  expect(pair.provider.received('create')).toEqual([])
})

test.each(['A', 'B'] as const)('V7: deep JSON of provider %s is 502', async (provider) => {
  const pair = await startPair('A', provider)
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const facts = provider === 'A' ? transactionA(swap()) : createdB(swap())
  pair.provider.reply('get', { text: JSON.stringify(facts).replace('{', `{"deep":${deep},`) })
  expectRefusal(await pair.client.get('/transactions/alpha~tx-1'), 'A', 502)
  await expectAlive(pair.client)
  await pair.close()
})

describe('V11: dates', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('B', 'B')
  })
  afterAll(() => pair.close())

  const refused = [
    '2026-01-01T00:00:00',
    '2026-12-31T23:59:60Z',
    '10000-01-01',
    '+12026-01-01',
    '2026-01-01T24:00:00Z',
    '2026-13-01',
  ]
  const odd = [
    '2026-02-29',
    '2026-1-1',
    '2026-01-01T00:00Z',
    '2026-01-01 00:00:00Z',
    '20260101',
    '2026-W01',
    '2026-01-01T00:00:00+25:00',
  ]
  test.each([...refused, ...odd, '0', '1767225600', 'now', '', '2026-01-01T00:00:00Zjunk', '２０２６-01-01'])(
    '"%s" is 400',
    async (date) => {
      pair.provider.reset()
      for (const name of ['dateFrom', 'dateTo']) {
        const answer = await pair.client.get(`/transactions?${name}=${encodeURIComponent(date)}`)
        expect(expectRefusal(answer, 'B', 400)).toContain(name)
      }
      expect(pair.provider.journal).toEqual([])
    },
  )

  test.each(['2026-01-01', '2024-02-29', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789Z', '2026-01-01T23:59:59-12:00'])(
    '"%s" is taken',
    async (date) => {
      expect((await pair.client.get(`/transactions?dateFrom=${encodeURIComponent(date)}`)).status).toBe(200)
    },
  )
})
