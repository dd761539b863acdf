/** Amounts, networks and assets of any kind: what is sent is what was requested, or nothing is. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectAlive, expectRefusal } from '../support/expectations.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { formNames, type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'
import { workMs } from '../support/work.ts'

const { btc, usdtTrx, usdtEth } = assets

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(async () => {
    pair.provider.reset()
    pair.provider.holdings.swaps = []
    await pair.gateway.forget() // the provider gives its ids anew
  })
  afterAll(async () => {
    await expectAlive(pair.client)
    await pair.close()
  })

  const order = (facts: object = {}): Record<string, unknown> => ({
    ...pairWords(form, btc, usdtTrx),
    amount: 1,
    withdrawalAddress: 'TWithdraw1',
    ...facts,
  })
  const create = (body: unknown): Promise<ReceivedResponse> => pair.client.post('/transactions', body)
  const created = (): number => pair.provider.received('create').length

  test.each(['USDT', 'USDC'])('M1: %s, a coin on several networks, is not created without its network', async (coin) => {
    for (const side of ['From', 'To']) {
      const body = order({ [`coin${side}`]: coin, [`network${side}`]: undefined })
      const message = expectRefusal(await create(body), form, 400)
      expect(message).toContain(form === 'A' ? coin : `network${side}`)
      for (const empty of form === 'B' ? ['', ' ', null] : []) {
        expectRefusal(await create({ ...body, [`network${side}`]: empty }), form, 400)
      }
    }
    expect(created()).toBe(0)
  })

  test('M2: a code or network is its listed word or alias in some case of its letters, or it is refused', async () => {
    const words = form === 'A' ? ['USDTTRC20', 'USDTERC20'] : ['TRX', 'TRC20', 'TRON', 'ETH', 'ERC20']
    const trx = new Set(['USDTTRC20', 'TRX', 'TRC20', 'TRON'])
    const mutated = fc.constantFrom(...words).chain((word) =>
      fc.oneof(
        fc.constant(word),
        fc
          .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
          .map((flips) => [...word].map((letter, at) => (flips[at] ? letter.toLowerCase() : letter)).join('')),
        fc.constantFrom(' ', '\u00a0', '\u200b', '\t', '.', '-', '0').chain((extra) => fc.constantFrom(word + extra, extra + word)),
        fc.nat({ max: word.length - 1 }).map((at) => word.slice(0, at) + word.slice(at + 1)),
        fc
          .tuple(fc.nat({ max: word.length - 1 }), fc.constantFrom('Т', 'Ｔ', 'ſ', 'İ', 'О', 'K'))
          .map(([at, alike]) => word.slice(0, at) + alike + word.slice(at + 1)),
      ),
    )
    await fc.assert(
      fc.asyncProperty(mutated, async (word) => {
        const before = created()
        const response = await create(order(form === 'A' ? { coinTo: word } : { networkTo: word }))
        const listed = words.find((known) => known === word.toUpperCase() && /^[\x20-\x7e]*$/.test(word))
        if (listed === undefined) {
          expectRefusal(response, form, 400)
          expect(created()).toBe(before)
          return
        }
        expect(response.status, response.text).toBeLessThan(300)
        const meant = trx.has(listed) ? usdtTrx : usdtEth
        expect(readJson(pair.provider.received('create').at(-1)?.body ?? '')).toMatchObject(pairWords(provider, btc, meant))
      }),
      { numRuns: 120 },
    )
  })

  test('M2: a letter that only folds to an ASCII one is another letter', async () => {
    const alike = form === 'A' ? ['U\u017fDTTRC20', 'u\u017fdttrc20'] : ['U\u017fDT', 'u\u017fdt']
    for (const coinTo of alike) expectRefusal(await create(order({ coinTo })), form, 400)
    expect(created()).toBe(0)
  })

  test('M3: a parameter that only looks like a network is refused by name, never ignored', async () => {
    const names = ['coinFromNetwork', 'network', 'chain', 'networkfrom', 'NetworkFrom', 'network_from', 'networkTo[]', 'networks']
    const foreign = form === 'A' ? [...names, 'networkFrom', 'networkTo'] : names
    for (const name of foreign) {
      const request = rateQuery(form, { from: btc, to: usdtTrx, amount: '1' })
      expect(expectRefusal(await pair.client.get(`${request}&${name}=ETH`), form, 400)).toContain(name)
      expect(expectRefusal(await create(order({ [name]: 'ETH' })), form, 400)).toContain(name)
    }
    expect(pair.provider.journal).toEqual([])
  })

  const lexemes = ['0.123456789012345678', '900719925474099.3', '1e-7', '0.0000001', '1.10', '1000000000000000.000', '1.0E+3']
  test.each(lexemes)('M7: the amount %s arrives as it was written, in both directions', async (lexeme) => {
    const rate = await pair.client.get(rateQuery(form, { from: btc, to: usdtTrx, amount: lexeme }))
    expect(pair.provider.received('rate')[0]?.query.get('amount')).toBe(lexeme)
    expect(rate.json).toHaveProperty(form === 'A' ? 'amount' : 'fromAmount', digits(lexeme))
    const response = await create(order({ amount: digits(lexeme) }))
    expect(pair.provider.received('create')[0]?.body).toContain(`"amount":${lexeme}`)
    expect(response.json).toHaveProperty(form === 'A' ? 'amount' : 'amount_in', digits(lexeme))
  })

  const inBodies = [
    '1e400',
    '-1',
    '-0',
    '0',
    '0.000',
    '0e5',
    'NaN',
    'Infinity',
    '"1 "',
    '""',
    '" "',
    'null',
    'true',
    '[5]',
    '{}',
    '0x10',
  ]
  const oddBodies = ['1_000', '٣', '+1', '.5', '5.', '01', '1e', '1.e5', "'1'", '1,5', '-Infinity', '1n']
  test.each([...inBodies, ...oddBodies])('M8: the amount %s in a body is 400', async (amount) => {
    const body = JSON.stringify(order({ amount: digits('7') })).replace('"amount":7', `"amount":${amount}`)
    expectRefusal(await create(body), form, 400)
    expect(pair.provider.journal).toEqual([])
  })

  const inQueries = [
    '1e400',
    '-1',
    '-0',
    '0',
    '0.0',
    'NaN',
    'Infinity',
    '%221%22',
    '',
    '%20',
    'null',
    'true',
    '[5]',
    '0x10',
    '1_000',
  ]
  const oddQueries = ['%D9%A3', '+1', '%2B1', '.5', '5.', '01', '1e', '1,5', '1%00', '%201', '1%20', '1e5.5', '½']
  test.each([...inQueries, ...oddQueries])('M8: the amount "%s" in a query is 400', async (amount) => {
    const request = rateQuery(form, { from: btc, to: usdtTrx, amount: '7' }).replace(
      'amount=7',
      `amount=${encodeURI(decodeURI(amount))}`,
    )
    expect(expectRefusal(await pair.client.get(request), form, 400)).toContain('amount')
    expect(pair.provider.journal).toEqual([])
  })

  const huge = [
    '1e1000000',
    '1e-1000000',
    '9'.repeat(7_000),
    `0.${'0'.repeat(7_000)}1`,
    `1e${'9'.repeat(7_000)}`,
    '1e41',
    '1e-41',
    '1'.repeat(65),
  ]
  test.each(huge.map((amount) => [amount.slice(0, 12), amount] as const))(
    'M9: the amount %s… is 400 at once',
    async (_, amount) => {
      const body = JSON.stringify(order({ amount: digits('7') })).replace('"amount":7', `"amount":${amount}`)
      const request = rateQuery(form, { from: btc, to: usdtTrx, amount: '7' }).replace('amount=7', `amount=${amount}`)
      const sendBoth = async (): Promise<void> => {
        expectRefusal(await create(body), form, 400)
        expectRefusal(await pair.client.get(request), form, 400)
      }
      expect(await workMs(sendBoth)).toBeLessThan(200)
      expect(pair.provider.journal).toEqual([])
    },
  )

  const duplicates = ['"amount":2', '"amo\\u0075nt":2', '"amount":7', '"coinFrom":"ETH"', '"withdrawalAddress":"thief"']
  test.each(duplicates)('M10: a second key %s is 400', async (second) => {
    const body = JSON.stringify(order({ amount: digits('7') }))
    for (const twice of [`${body.slice(0, -1)},${second}}`, `{${second},${body.slice(1)}`])
      expectRefusal(await create(twice), form, 400)
    expect(pair.provider.journal).toEqual([])
  })

  test('M11: the call has newly written bytes, not those that came', async () => {
    const plain = order({ amount: digits('1.10') })
    await create(JSON.stringify(plain))
    const backwards = Object.fromEntries(Object.entries(plain).toReversed())
    await create(JSON.stringify(backwards, null, '\t\r\n'))
    await create(JSON.stringify(plain).replace('"amount"', '"\\u0061mount"').replace('TWithdraw1', 'T\\u0057ithdraw1'))
    const [first, ...others] = pair.provider.received('create').map(({ body }) => body)
    expect(first).toBe(JSON.stringify(readJson(first ?? '')))
    expect(others).toEqual([first, first])
  })

  test.each(['/* */', '// x\n', '\ufeff'])('M11: a body that begins with %j is 400', async (start) => {
    expectRefusal(await create(start + JSON.stringify(order())), form, 400)
    expect(pair.provider.journal).toEqual([])
  })

  test.each(['"1.10"', '1.10', '1e-8', '0.12345678901234567890123456789', '12345678901234567890123456789', '1E5'])(
    'M12: the number %s of a provider is a JSON number with the same digits',
    async (number) => {
      const lexeme = number.replaceAll('"', '')
      const value = number.startsWith('"') ? lexeme : digits(lexeme)
      const facts = provider === 'A' ? { ...transactionA(swap()), amountTo: value } : { ...detailedB(swap()), amount_out: value }
      pair.provider.reply('get', { json: facts })
      const response = await pair.client.get('/transactions/alpha~tx-1')
      expect(response.json).toHaveProperty(form === 'A' ? 'amountTo' : 'amount_out', digits(lexeme))
    },
  )

  test.each(['"1,5"', '"0x10"', '" 1"', '"NaN"', '""', 'true', '[1]', `1${'0'.repeat(70)}`, '1e999'])(
    'M12: the number %s of a provider is not its form: 502',
    async (number) => {
      const facts = provider === 'A' ? transactionA(swap({ amountOut: digits('7') })) : detailedB(swap({ amountOut: digits('7') }))
      const name = provider === 'A' ? 'amountTo' : 'amount_out'
      pair.provider.reply('get', { text: JSON.stringify(facts).replace(`"${name}":7`, `"${name}":${number}`) })
      expectRefusal(await pair.client.get('/transactions/alpha~tx-1'), form, 502)
    },
  )
})

test.each(formNames)('M12: a deposit memo of a create survives as text, digit for digit, for client %s', async (form) => {
  const pair = await startPair(form, 'B')
  pair.provider.reply('create', { json: { ...createdB(swap()), deposit_extra_id: '0012345678901234567890' } })
  const response = await pair.client.post('/transactions', {
    ...pairWords(form, btc, usdtTrx),
    amount: digits('0.10'),
    withdrawalAddress: 'TWithdraw1',
  })
  await pair.close()
  expect(response.text).toContain('"0012345678901234567890"')
})
