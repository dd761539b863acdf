import { expect, it } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { type Amount, compareAmounts, toAmount } from '../../domain/amount.ts'
import { Fault } from '../../domain/fault.ts'
import { type RateQuery, requestedAmountOf } from '../../domain/swap.ts'
import { explainRefusedAmounts } from './amount-range.ts'

const amount = (text: string): Amount => toAmount(text) as Amount

it('limits are those of the last minute, however often they are asked for', async () => {
  let now = 0
  let minAmount = amount('0.01')
  const provider = scripted((_, { request }) => {
    const amountIn = requestedAmountOf(request as RateQuery)
    if (compareAmounts(amountIn, minAmount) < 0) throw new Fault('invalid', 'no', { reason: 'refused', effect: 'refused' })
    return { body: { amountIn, minAmount } }
  })
  const explained = explainRefusedAmounts(providerScope({ mayHideAmountRange: true, clock: () => now }))(provider)
  const query = { coinFrom: 'BTC', coinTo: 'ETH', amountIn: amount('0.001'), rateType: 'float' } as RateQuery
  const refuse = async () =>
    Fault.from(await explained.call('getRate', query, contextOf()).catch((reason) => reason)).amountRange?.minAmount
  expect(await refuse()).toBe('0.01')
  minAmount = amount('0.1')
  for (now = 20_000; now < 60_000; now += 20_000) expect(await refuse()).toBe('0.01')
  expect(await refuse()).toBe('0.1')
})
