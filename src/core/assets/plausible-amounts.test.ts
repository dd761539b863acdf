import { expect, test } from 'vitest'
import type { Observation } from '../../domain/observation.ts'
import type { Currency, Rate } from '../../domain/swap.ts'
import { plausibleLimits } from './plausible-amounts.ts'

test.each([
  ['1', '2', undefined],
  ['1', undefined, undefined],
  [undefined, '2', undefined],
  ['1', '0', undefined],
  ['0', '0', undefined],
  ['2', '1', 'minAmount'],
  ['-1', '2', 'minAmount'],
  ['1', '-2', 'maxAmount'],
])('of a minimum of %s and a maximum of %s, %s cannot be right', async (minAmount, maxAmount, field) => {
  const observations: Observation[] = []
  const body = { minAmount, maxAmount } as unknown as Rate
  const layer = plausibleLimits('alpha', (observation) => observations.push(observation))
  const response = await layer({ call: async () => ({ body }) as never }).call('getRate', {} as never, {} as never)
  expect(response.body).toEqual(field === undefined ? body : { minAmount: undefined, maxAmount: undefined })
  expect(observations).toEqual(field === undefined ? [] : [{ what: 'drift', provider: 'alpha', field, drift: 'implausible' }])
})

test.each([
  ['2', '1', 'depositMin'],
  ['1', '-2', 'depositMax'],
  ['1', '0', undefined],
])('of a row of the list with a minimum of %s and a maximum of %s, %s cannot be right', async (depositMin, depositMax, field) => {
  const observations: Observation[] = []
  const row = { coin: 'BTC', depositMin, depositMax } as unknown as Currency
  const layer = plausibleLimits('alpha', (observation) => observations.push(observation))
  const provider = { call: async () => ({ body: { items: [row], total: 1 } }) as never }
  const { body } = await layer(provider).call('listCurrencies', { page: 1, size: 1 }, {} as never)
  expect(body.items).toEqual([field === undefined ? row : { coin: 'BTC' }])
  expect(observations).toEqual(field === undefined ? [] : [{ what: 'drift', provider: 'alpha', field, drift: 'implausible' }])
})
