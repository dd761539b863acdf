// Takes long: thousands of searches.
/** Parameters that are unknown, sent twice, out of range or hostile. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.ts'
import { expectRefusal } from '../support/expectations.ts'
import { formNames } from '../support/pair.ts'
import { refusalRig } from '../support/refusal-rig.ts'

describe.each(formNames)('client %s', (form) => {
  const rig = refusalRig(form)
  const { request, order, create, expectRefused } = rig

  const required = ['coinFrom', 'coinTo', 'amount']
  /** An empty one is absent; BTC has one network. */
  const mayBeEmpty = ['rateType', 'networkFrom']
  test.each(Object.keys(request))('V1: the parameter %s missing, empty, repeated or bracketed is 400 and named', async (name) => {
    const { [name]: value = '', ...rest } = request
    const others = new URLSearchParams(rest).toString()
    if (required.includes(name)) expect(expectRefused(await rig.pair.client.get(`/rate?${others}`))).toContain(name)
    if (!mayBeEmpty.includes(name)) {
      expect(expectRefused(await rig.pair.client.get(`/rate?${others}&${name}=`))).toContain(name)
      expect(expectRefused(await rig.pair.client.get(`/rate?${others}&${name}`))).toContain(name)
    }
    expect(expectRefused(await rig.pair.client.get(`/rate?${others}&${name}=${value}&${name}=${value}`))).toContain(name)
    for (const odd of [`${name}[]`, `${name}[0]`, `${name}[a]`, `${name}.a`]) {
      expect(expectRefused(await rig.pair.client.get(`/rate?${others}&${name}=${value}&${odd}=${value}`))).toContain(name)
    }
  })

  test('V1: a parameter repeated in disguise is 400', async () => {
    const query = new URLSearchParams(request)
    expect(expectRefused(await rig.pair.client.get(`/rate?${query}&%61mount=2`))).toContain('amount')
    expect(expectRefused(await rig.pair.client.get(`/rate?${query}&coin%46rom=ETH`))).toContain('coinFrom')
  })

  test('V1: a parameter in a path or query that is not UTF-8 is 400', async () => {
    expectRefused(await rig.pair.client.get(`/rate?${new URLSearchParams(request)}&x=%ff`))
    expectRefused(await rig.pair.client.get('/currencies?search=%E0%A4%A'))
  })

  const members = Object.keys({ ...order(), refundAddress: '', rateType: '' })
  test.each(members)('V1: the member %s of another type is 400 and named', async (name) => {
    const isRequired = name in order()
    // Null and an empty text say of an optional member that it is absent.
    const nothing = isRequired ? [null, ''] : []
    const wrong = name === 'amount' ? ['1x', true, [1], {}] : [1, true, ['x'], {}]
    for (const value of [...nothing, ...wrong]) expect(expectRefused(await create(order({ [name]: value })))).toContain(name)
    if (isRequired) expect(expectRefused(await create(order({ [name]: undefined })))).toContain(name)
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
        expect(expectRefused(await rig.pair.client.get(`${path}?${name}=${encoded}`))).toContain(name)
    }
  })

  test('V9: a size over 100 is 400', async () => {
    expect(expectRefused(await rig.pair.client.get('/currencies?size=101'))).toContain('size')
    expect(expectRefused(await rig.pair.client.get('/transactions?size=101'))).toContain('size')
  })

  const rateTypes = ['FIXED', 'Fixed', 'fixed ', ' float', 'float,fixed', 'fix', 'null', 'fixed\u0000', 'floаt']
  test.each(rateTypes)('V10: the rateType %j is 400 and named', async (rateType) => {
    const query = new URLSearchParams({ ...request, rateType })
    expect(expectRefused(await rig.pair.client.get(`/rate?${query}`))).toContain('rateType')
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
    rig.pair.provider.holdings.currencies = ['A.C', 'ABC', '100%', "O'X", 'A"B', '(X)', '\\d', '$^'].map((code) => ({
      code,
      name: `Name of ${code}`,
      icon: 'i',
      notes: '',
    }))
    const codes = async (word: string): Promise<unknown> => {
      const response = await rig.pair.client.get(`/currencies?search=${encodeURIComponent(word)}`)
      expect(response.status, response.text).toBe(200)
      return (response.json as { data: { code: string }[] }).data.map(({ code }) => code)
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

  test('V13: a search of any characters and of 7 kB gets a response', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }), async (word) => {
        const response = await rig.pair.client.get(`/currencies?search=${encodeURIComponent(word)}`)
        expect([200, 400]).toContain(response.status)
      }),
      { numRuns: 80 },
    )
    const response = await rig.pair.client.get(`/currencies?search=${'a'.repeat(7_000)}`)
    expect([200, 400]).toContain(response.status)
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
  test.each(coins)('V14: the coin code %j is 400 and nothing is sent', async (code) => {
    const query = new URLSearchParams({ ...request, coinFrom: code })
    for (const response of [await rig.pair.client.get(`/rate?${query}`), await create(order({ coinFrom: code }))]) {
      expect(expectRefusal(response, form, 400)).toContain('coinFrom')
    }
    expect(rig.pair.provider.journal.filter(({ operation }) => operation !== 'currencies')).toEqual([])
  })

  test('V14: a created pair is the requested pair, for any codes', async () => {
    const known = form === 'A' ? ['BTC', 'btc', 'Usdttrc20', 'XRP'] : ['BTC', 'btc', 'XRP']
    const code = fc.oneof(fc.constantFrom(...known), fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 5 }))
    await fc.assert(
      fc.asyncProperty(code, async (coinFrom) => {
        const before = rig.pair.provider.received('create').length
        const network = form === 'B' ? { networkFrom: coinFrom.toUpperCase() } : {}
        const { status } = await create(order({ coinFrom, ...network }))
        const sent = rig.pair.provider.received('create').slice(before)
        expect(sent).toHaveLength(status < 300 ? 1 : 0)
        for (const { body } of sent) expect(JSON.parse(body)).toMatchObject({ coinFrom: coinFrom.toUpperCase() })
      }),
      { numRuns: 80 },
    )
  })
})
