// Takes long: 2,000 creates, each with quotes of eight providers.
/** docs/contract-operators.md §10.3: a price that moves by 0.5 % within the minute is held against nobody. */
import { expect, it } from 'vitest'
import { providerNames } from '../providers/documented.ts'
import { tradeHonestly } from './real-market.ts'

it.each(['best', 'priority'] as const)(
  'in 1,000 creates under `%s` there is no mismatch and no suspension',
  {
    timeout: 1_200_000,
  },
  async (strategy) => {
    const { found, providers } = await tradeHonestly(strategy, 1_000)
    expect(found).toEqual([])
    expect(providers.toSorted()).toEqual([...providerNames].toSorted())
  },
)
