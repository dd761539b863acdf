import { expect, it } from 'vitest'
import type { Amount } from '../../domain/amount.ts'
import { QuoteDeviations } from './winners.ts'

const hundred = '100' as Amount

it('a create that promised too little discounts the quotes of its provider for ten minutes', () => {
  let now = 0
  const deviations = new QuoteDeviations(0.1, () => now)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.4 })
  expect(deviations.discounted('beta', hundred)).toBe('60')
  expect(deviations.discounted('alpha', hundred)).toBe('100')
  now = 600_000
  expect(deviations.discounted('beta', hundred)).toBe('100')
})

it('a later create within the bound ends it, and a small deviation is none', () => {
  const deviations = new QuoteDeviations(0.1, () => 0)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.4 })
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -0.1 })
  expect(deviations.discounted('beta', hundred)).toBe('100')
})

it('a bound of 0 counts nothing', () => {
  const deviations = new QuoteDeviations(0, () => 0)
  deviations.observe({ what: 'quoteDeviation', provider: 'beta', deviation: -1 })
  expect(deviations.discounted('beta', hundred)).toBe('100')
})
