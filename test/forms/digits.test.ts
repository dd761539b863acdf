// Takes long: hundreds of random amounts.
/** docs/contract.md §3: no amount loses a digit, in either direction, in any pair. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { digits, readJson } from '../support/json.ts'
import { type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import { assets, swap } from '../support/swaps.ts'

const runs = 60
/** Not so large that it goes nowhere (docs/contract-operators.md §8). */
const isOrdinary = (amount: string): boolean => Number(amount) <= 1e15

/** Positive numbers of JSON's grammar, within 64 characters and exponents from -40 to 40. */
const lexemes = fc
  .record({
    whole: fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
    fraction: fc.option(fc.stringMatching(/^[0-9]{0,23}[1-9]0{0,3}$/), { nil: undefined }),
    exponent: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.integer({ min: 0, max: 40 })), { nil: undefined }),
  })
  .filter(({ whole, fraction }) => whole !== '0' || fraction !== undefined)
  .map(({ whole, fraction, exponent }) => whole + (fraction ? `.${fraction}` : '') + (exponent ? exponent.join('') : ''))

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider }) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, provider)
  })
  beforeEach(async () => {
    pair.provider.reset()
    await pair.gateway.forget()
  })
  afterAll(() => pair.close())

  test("a client's amount reaches the provider as it was written, and comes back so", async () => {
    const { btc, usdtTrx } = assets
    await fc.assert(
      fc.asyncProperty(lexemes.filter(isOrdinary), async (amount) => {
        const rate = await pair.client.get(rateQuery(form, { from: btc, to: usdtTrx, amount }))
        expect(pair.provider.received('rate').at(-1)?.query.get('amount')).toBe(amount)
        expect(rate.json).toHaveProperty(form === 'A' ? 'amount' : 'fromAmount', digits(amount))
        const order = { ...pairWords(form, btc, usdtTrx), amount: digits(amount), withdrawalAddress: 'w' }
        const created = await pair.client.post('/transactions', order)
        expect(readJson(pair.provider.received('create').at(-1)?.body ?? '')).toHaveProperty('amount', digits(amount))
        expect(created.json).toHaveProperty(form === 'A' ? 'amount' : 'amount_in', digits(amount))
      }),
      { numRuns: runs },
    )
  })

  test("a provider's number reaches the client as it was written", async () => {
    const facts = (given: string, received: string) =>
      swap({ amountIn: digits(given), amountOut: digits(received), rate: digits(received) })
    await fc.assert(
      fc.asyncProperty(lexemes, fc.oneof(lexemes, fc.constantFrom('0', '0.00', '-1.50', '-0')), async (given, received) => {
        pair.provider.reply('get', { json: (provider === 'A' ? transactionA : detailedB)(facts(given, received)) })
        const { json } = await pair.client.get('/transactions/alpha~tx-1')
        const [amountIn, amountOut] = form === 'A' ? ['amount', 'amountTo'] : ['amount_in', 'amount_out']
        expect(json).toMatchObject({
          [amountIn as string]: digits(given),
          [amountOut as string]: digits(received),
          rate: digits(received),
        })
      }),
      { numRuns: runs },
    )
  })
})
