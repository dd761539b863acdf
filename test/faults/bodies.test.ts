/** Bodies that are no JSON object in UTF-8, too large, too deep, compressed, or of another type. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB } from '../support/form-b.ts'
import { clientKey } from '../support/gateway.ts'
import { credential, formNames, startPair } from '../support/pair.ts'
import { sendRaw } from '../support/raw.ts'
import { refusalRig } from '../support/refusal-rig.ts'
import { swap } from '../support/swaps.ts'
import { workMs } from '../support/work.ts'

describe.each(formNames)('client %s', (form) => {
  const rig = refusalRig(form)
  const { request, order, create, bytes, expectRefused } = rig

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
    const response = await bytes(Buffer.from(body))
    expectRefused(response)
    expect(response.text).not.toMatch(/BTC|\bat \w+ \(|\.ts:|SyntaxError/)
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
    const [name, value] = Object.entries(credential(form, clientKey))[0] as [string, string]
    const head = [`POST /${form.toLowerCase()}/api/v2/transactions HTTP/1.1`, 'Host: g', `${name}: ${value}`, 'Content-Length: 2']
    const twice = [...head, 'Content-Type: application/json', 'Content-Type: text/plain', 'Connection: close']
    expect((await sendRaw(rig.pair.gateway.port, `${twice.join('\r\n')}\r\n\r\n{}`)).status).toBe(415)
    expect(rig.pair.provider.journal).toEqual([])
  })

  test.each(['null', '1', '"x"', 'true', '[]', '[{}]', '', '{}', '[[]]'])('V4: the body %j is 400', async (body) => {
    expectRefused(await create(body))
  })

  const raw = (lines: readonly string[], body: string): ReturnType<typeof sendRaw> => {
    const [name, value] = Object.entries(credential(form, clientKey))[0] as [string, string]
    const head = [`POST /${form.toLowerCase()}/api/v2/transactions HTTP/1.1`, 'Host: g', 'Content-Type: application/json']
    return sendRaw(rig.pair.gateway.port, `${[...head, `${name}: ${value}`, ...lines].join('\r\n')}\r\n\r\n${body}`, 200)
  }

  test.each(['16385', '10000000', '10737418240'])('V5: a declared body of %s bytes is 413 before it is sent', async (length) => {
    const response = await raw([`Content-Length: ${length}`], '{')
    expect(response.status).toBe(413)
    expect(response.closed).toBe(true)
  })

  test('V5: a chunked body that never ends is 413 and its connection is closed', async () => {
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
    const response = await raw(['Transfer-Encoding: chunked'], chunk.repeat(3))
    expect(response.status).toBe(413)
    expect(response.closed).toBe(true)
  })

  const bomb = Buffer.alloc(10_000_000, ' ')
  const gzipped = gzipSync(bomb)
  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const encodings: readonly (readonly [string, Uint8Array])[] = [
    ['gzip', gzipped],
    ['deflate', deflateSync(bomb)],
    ['br', brotliCompressSync(bomb, quickly)],
    ['zstd', Buffer.from('{}')],
    ['x-unknown', Buffer.from('{}')],
    ['gzip, gzip', gzipSync(gzipped)],
  ]
  test.each(encodings)('V6: a body of the encoding %s is 415 or 413', async (encoding, body) => {
    const response = await bytes(body, { 'content-encoding': encoding })
    expect([413, 415]).toContain(response.status)
    expectRefused(response, response.status)
  })

  test('V8: names of the prototype are unknown names, in body, query and header', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = JSON.stringify(order()).replace('{', `{"${name}":{"polluted":1},`)
      expect(expectRefused(await create(body))).toContain(name)
      const query = new URLSearchParams(request)
      expect(expectRefused(await rig.pair.client.get(`/rate?${query}&${name}=1`))).toContain(name)
      expect(expectRefused(await rig.pair.client.get(`/rate?${query}&${name}[polluted]=1`))).toContain(name)
      expect((await rig.pair.client.get('/currencies', { headers: { [name]: 'polluted' } })).status).toBe(200)
      rig.pair.provider.reset()
    }
  })

  test('V8: names of the prototype in the JSON of a provider are dropped', async () => {
    const facts = form === 'A' ? transactionA(swap()) : detailedB(swap())
    const names = '"__proto__":{"polluted":1,"status":"success"},"constructor":{"prototype":{"polluted":1}},'
    rig.pair.provider.reply('get', { text: JSON.stringify(facts).replace('{', `{${names}`) })
    const response = await rig.pair.client.get('/transactions/alpha~tx-1')
    expect(response.json).toMatchObject({ status: 'wait' })
    expect(response.text).not.toContain('polluted')
  })
})

test('V7: deep and wide bodies are 400 and delay no other request, also if large bodies are allowed', async () => {
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
    const send = async (): Promise<void> => {
      const [response] = await Promise.all([pair.client.post('/transactions', body), expectAlive(pair.client)])
      expectRefusal(response, 'A', 400)
    }
    expect(await workMs(send)).toBeLessThan(500) // what holds the loop takes processor time
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
