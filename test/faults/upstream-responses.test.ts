// Takes long: hundreds of responses, each with its own timeout.
/** The content of a response. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB } from '../support/form-b.ts'
import { formNames, pairWords, startPair } from '../support/pair.ts'
import { rawResponse } from '../support/raw.ts'
import { expectFailure, get, rig, whole } from '../support/raw-rig.ts'
import { assets, depositOf, swap } from '../support/swaps.ts'

describe('U7', () => {
  const spoiled = (from: string, to: string): string => whole.replace(from, to)
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ['HTML', '<html><body>It works</body></html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array around it', `[${whole}]`],
    ['a text', '"ok"'],
    ['a number', '1'],
    ['an empty object', '{}'],
    ['an error', '{"error":"x","message":"y","code":500}'],
    ['NaN', spoiled('"amount":0.10', '"amount":NaN')],
    ['a duplicate key', spoiled('{', '{"depositAddress":"thief",')],
    ['a duplicate key in disguise', spoiled('{', '{"deposit\\u0041ddress":"thief",')],
    ['trailing text', `${whole} ok`],
    ['two documents', whole + whole],
    ['a comment', `/* */${whole}`],
    ['two byte order marks', `\ufeff\ufeff${whole}`],
    ['invalid UTF-8 in an address', Buffer.from(spoiled(depositOf('tx-1'), 'bc1q-\u00ffdeposit'), 'latin1')],
    ['a lone surrogate', spoiled(depositOf('tx-1'), '\\ud800')],
    ['an id with a control character', spoiled('"tx-1"', '"tx\\u00001"')],
    ['an empty id', spoiled('"tx-1"', '""')],
    ['an id of 257 characters', spoiled('"tx-1"', `"${'x'.repeat(257)}"`)],
    ['a number as address', spoiled(JSON.stringify(depositOf('tx-1')), '7')],
    ['no deposit address', spoiled(JSON.stringify(depositOf('tx-1')), 'null')],
    ['10,000 levels', spoiled('{', `{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)},`)],
  ]
  test.each(bodies)('U7: 200 with %s is 502', (_, body) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
    return expectFailure((socket) => void socket.write(Buffer.concat([Buffer.from(head), Buffer.from(body)])), 502)
  })

  test('U7: a response about another transaction than requested is 502, and shows nothing of it', async () => {
    const body = JSON.stringify(transactionA(swap({ id: 'tx-2', depositAddress: 'bc1q-of-another' })))
    const response = await get(await rig((socket) => socket.write(rawResponse(body))))
    expectRefusal(response, 'A', 502)
    expect(response.text).not.toContain('bc1q-of-another')
  })

  const anything = fc.jsonValue({ maxDepth: 2 })
  test.each(formNames)(
    'U7: for any value of a field from a provider of form %s, the response is of the form or 502',
    async (form) => {
      const pair = await startPair('A', form)
      const facts: Record<string, unknown> = form === 'A' ? transactionA(swap()) : { ...createdB(swap()), ...detailedB(swap()) }
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...Object.keys(facts)), anything, fc.boolean(), async (name, value, isGone) => {
          const { [name]: _, ...rest } = facts
          const json = isGone ? rest : { ...rest, [name]: value }
          await pair.gateway.forget()
          for (const operation of ['get', 'create'] as const) pair.provider.reply(operation, { json })
          pair.provider.reply('list', { json: { data: [json], count: 1, pagination: { page: 1, size: 20, total: 1 } } })
          const key = await pair.gateway.freshKey()
          const addresses = { withdrawalAddress: 'TWithdraw1', refundAddress: 'bc1q-refund-1' }
          const order = { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, ...addresses }
          expect([200, 502]).toContain((await pair.client.get('/transactions/alpha~tx-1', { key })).status)
          expect([200, 502]).toContain((await pair.client.get('/transactions', { key })).status)
          expect([201, 502, 504]).toContain((await pair.client.post('/transactions', order, { key })).status)
        }),
        { numRuns: 150 },
      )
      await expectAlive(pair.client)
      await pair.close()
    },
  )

  test('U7: for any currency list, its good rows are returned or it is 502', async () => {
    const pair = await startPair('B', 'A')
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { maxLength: 5 }), anything, async (rows, total) => {
        const json = { data: rows, pagination: { page: 1, size: 100, total } }
        pair.provider.reply('currencies', { json })
        expect([200, 502]).toContain((await pair.client.get('/currencies')).status)
      }),
      { numRuns: 150 },
    )
    await pair.close()
  })

  test('U7: fields that the form lacks are dropped', async () => {
    const body = JSON.stringify({ ...transactionA(swap()), isVip: true, nested: { a: [1] } })
    const response = await get(await rig((socket) => socket.write(rawResponse(body))))
    expect(response.status).toBe(200)
    expect(response.text).not.toMatch(/isVip|nested/)
  })
})

describe('U8', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['a header of 100 kB', `x-big: ${'x'.repeat(100_000)}`],
    ['5,000 headers', Array.from({ length: 5_000 }, (_, at) => `x-${at}: y`).join('\r\n')],
    ['a header without a colon', 'nonsense'],
    ['a header with a NUL', 'x-bad: a\u0000b'],
    ['a space before the colon', 'x-bad : a'],
  ]
  test.each(bad)('U8: a response with %s is 502', (_, line) =>
    expectFailure((socket) => socket.write(rawResponse(whole, '200 OK', [line])), 502),
  )

  test('U8: of the headers of a provider none comes back', async () => {
    const canaries = [
      'Set-Cookie: a=canary',
      'Server: canary',
      'Keep-Alive: canary',
      'RateLimit: "canary"',
      'X-Frame: canary\u00ff',
    ]
    const hops = [
      'Connection: keep-alive, X-Frame',
      'Trailer: canary',
      'Upgrade: canary',
      'Location: http://canary.test/',
      'Link: <canary>',
    ]
    const response = await get(await rig((socket) => socket.write(rawResponse(whole, '200 OK', [...canaries, ...hops]))))
    expect(response.status).toBe(200)
    expect(JSON.stringify(response.headers)).not.toContain('canary')
  })

  test.each(['17\u0000', '9'.repeat(50), '<script>', 'Fri, 31 Dec 1999 23:59:59 GMT'])(
    'U8: a Retry-After of %j is not passed on as it is',
    async (value) => {
      const made = await rig((socket) =>
        socket.write(rawResponse('{"message":"slow down","code":429}', '429 Slow', [`retry-after: ${value}`])),
      )
      const response = await get(made)
      expect([429, 502]).toContain(response.status)
      if (response.status === 429) expect(response.headers['retry-after']).toMatch(/^[1-9]\d{0,8}$/)
    },
  )
})
