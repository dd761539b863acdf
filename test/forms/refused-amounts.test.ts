/** A refusal for the amount names the limits of the pair, also if the provider does not (docs/contract.md §6). */
import { expect, test } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { digits, readJson } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { type Pair, pairs, pairWords, rateQuery, startPair } from '../support/pair.ts'
import type { Received, Reply } from '../support/stand-in.ts'
import { assets } from '../support/swaps.ts'

const { btc, usdtTrx } = assets
/** Those of a quote of the stand-ins. */
const limits = { minAmount: digits('0.001'), maxAmount: digits('1e3') }
const refusal: Reply = { status: 400, json: { error: 'Bad Request', message: 'amount not accepted', code: 400 } }

async function started(side: (typeof pairs)[number]): Promise<Pair & AsyncDisposable> {
  const pair = await startPair(side.client, side.provider, { steadyClock: () => performance.now() })
  return { ...pair, [Symbol.asyncDispose]: pair.close }
}

const amountOf = ({ query, body }: Received): number =>
  Number(query.get('amount') ?? (readJson(body) as { amount: { rawJSON: string } }).amount.rawJSON)
/** What the provider does with amounts outside its limits: it names none. */
const refuseOutside = (received: Received): Reply | undefined => {
  const amount = amountOf(received)
  return amount < 0.001 || amount > 1000 ? refusal : undefined
}
const rate = ({ client }: Pair, amount: string) => client.get(rateQuery(client.form, { from: btc, to: usdtTrx, amount }))
const create = ({ client }: Pair, amount: string) => client.post('/transactions', orderIn(client.form, { amount: digits(amount) }))

test.each(pairs)('a quote of the last minute shows them: client $client, provider $provider', async (side) => {
  await using pair = await started(side)
  pair.provider.reply('rate', refuseOutside)
  pair.provider.reply('create', refuseOutside)
  expect((await rate(pair, '1')).status).toBe(200)
  const asked = pair.provider.received('rate').length
  for (const [amount, reason] of [
    ['0.00099', 'below_minimum'],
    ['1000.00000001', 'above_maximum'],
  ] as const)
    for (const send of [rate, create]) {
      const refused = await send(pair, amount)
      expectRefusal(refused, side.client, 400, reason)
      expect(refused.json).toMatchObject(limits)
    }
  expect(pair.provider.received('rate').length).toBe(asked + 2)
  expect(pair.provider.received('create').length).toBe(2)
})

test.each(pairs)('without one a quote is asked for: client $client, provider $provider', async (side) => {
  for (const [send, amount, reason] of [
    [rate, '0.0005', 'below_minimum'],
    [create, '0.0005', 'below_minimum'],
    [rate, '5000', 'above_maximum'],
    [create, '5000', 'above_maximum'],
  ] as const) {
    await using pair = await started(side)
    pair.provider.reply('rate', refuseOutside)
    pair.provider.reply('create', refuseOutside)
    const refused = await send(pair, amount)
    expectRefusal(refused, side.client, 400, reason)
    expect(refused.json).toMatchObject(limits)
    expect(pair.provider.received('create').length).toBe(send === create ? 1 : 0)
  }
})

test.each(pairs)(
  'what no quote explains is refused, and is not asked for again: client $client, provider $provider',
  async (side) => {
    await using pair = await started(side)
    pair.provider.reply('rate', refusal)
    pair.provider.reply('create', refusal)
    const refused = await rate(pair, '1')
    expectRefusal(refused, side.client, 400, 'refused')
    expect(Object.keys(refused.json as object)).not.toContain('minAmount')
    expect(pair.provider.received('rate').length).toBe(3)
    for (let count = 0; count < 5; count++) expectRefusal(await create(pair, '1'), side.client, 400, 'refused')
    expect([pair.provider.received('rate').length, pair.provider.received('create').length]).toEqual([3, 5])
  },
)

test.each(pairs)('of many refusals at once one asks: client $client, provider $provider', async (side) => {
  await using pair = await started(side)
  pair.provider.reply('create', refuseOutside)
  pair.provider.reply('rate', refuseOutside)
  const refused = await Promise.all(Array.from({ length: 20 }, (_, at) => create(pair, `0.0000${at + 10}`)))
  for (const response of refused) expectRefusal(response, side.client, 400, 'below_minimum')
  // One for the amount, and one for a thousand times as much.
  expect(pair.provider.received('rate').length).toBe(2)
})

test.each(pairs)('an amount within the limits that is refused stays refused: client $client, provider $provider', async (side) => {
  await using pair = await started(side)
  pair.provider.reply('create', refusal)
  expectRefusal(await create(pair, '1'), side.client, 400, 'refused')
})

test.each(pairs)('what the provider accepts passes, whatever a quote showed: client $client, provider $provider', async (side) => {
  await using pair = await started(side)
  await rate(pair, '1')
  expect((await create(pair, '0.0005')).status).toBe(side.client === 'A' ? 201 : 200)
})

test.each(pairs)(
  'a swap of an asset for itself is parameter_invalid, and nothing is sent: client $client, provider $provider',
  async (side) => {
    await using pair = await started(side)
    const { client, provider } = pair
    const query = rateQuery(client.form, { from: btc, to: btc, amount: '1' })
    expectRefusal(await client.get(query), side.client, 400, 'parameter_invalid')
    expectRefusal(
      await client.post('/transactions', { ...orderIn(client.form), ...pairWords(client.form, usdtTrx, usdtTrx) }),
      side.client,
      400,
      'parameter_invalid',
    )
    expect([provider.received('rate').length, provider.received('create').length]).toEqual([0, 0])
  },
)
