/** docs/contract.md §3.3: the rate that form A has and form B does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { createdB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { type Pair, startPair } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

describe('A from B: the derived rate', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair('A', 'B')
  })
  afterAll(() => pair.close())

  const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', withdrawalAddress: 'TWithdraw1' }
  let made = 0
  const responseTo = (amountIn: string, expected: string, amount = amountIn): Promise<ReceivedResponse> => {
    const id = `tx-${++made}`
    pair.provider.reply('create', { json: createdB(swap({ id, amountIn: digits(amountIn), amountOut: digits(expected) })) })
    return pair.client.post('/transactions', { ...order, amount: digits(amount) })
  }

  const rates: readonly (readonly [string, string, string])[] = [
    ['0.10', '6543.210000000000000001', '65432.10000000000000001'],
    ['3', '1', '0.333333333333333333'],
    ['3', '2', '0.666666666666666667'],
    ['7', '1', '0.142857142857142857'],
    ['6', '1e-8', '0.00000000166666666666666667'],
    ['3e10', '1', '0.0000000000333333333333333333'],
    ['3', '100000000000000000000000', '33333333333333333300000'],
    ['8', '1', '0.125'],
    ['1073741824', '1', '0.000000000931322574615478515625'],
    ['1.10', '2.20', '2'],
    ['1e-8', '1e8', '10000000000000000'],
  ]
  test.each(rates)('for %s in, %s is expected: the rate is %s', async (amountIn, expected, rate) => {
    const response = await responseTo(amountIn, expected)
    expect(response.status, response.text).toBe(201)
    expect(response.json).toMatchObject({ rate: digits(rate) })
    expect(response.headers['x-swap-derived']).toBe('rate,updatedAt')
  })

  test.each(['0', '0.000', '0e5'])('an amount of %s says nothing: the rate is that of the requested amount', async (amountIn) => {
    const response = await responseTo(amountIn, '5', '2')
    expect(response.json, response.text).toMatchObject({ amount: digits('2'), rate: digits('2.5') })
  })

  test.each(['0', '0.000'])('an amount received of %s is not known, and so is the rate', async (amountOut) => {
    const response = await responseTo('1', amountOut)
    expect(response.status, response.text).toBe(201)
    expect(response.json).not.toHaveProperty('rate')
    expect(response.json).not.toHaveProperty('amountTo')
    expect(response.headers['x-swap-omitted']).toBe('amountTo,rate,refundAddress')
  })
})
