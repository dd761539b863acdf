import { expect, test } from 'vitest'
import type { Amount } from './amount.ts'
import { reasonByLimits } from './fault.ts'

test.each([
  ['0.1', '0.2', '10', 'below_minimum'],
  ['0.2', '0.20', '10', 'refused'],
  ['10', '0.2', '1e1', 'refused'],
  ['10.000000000000000000000000000000000001', '0.2', '10', 'above_maximum'],
  ['0.199999999999999999999999999999999999', '0.2', '10', 'below_minimum'],
  ['5', '0.2', '0', 'refused'],
  ['0.1', '0.2', undefined, 'below_minimum'],
  ['11', undefined, '10', 'above_maximum'],
  ['11', undefined, undefined, 'refused'],
  ['1', '2', '1.5', 'refused'],
  ['0.1', '0.2', '-1', 'refused'],
  ['11', '-1', '10', 'refused'],
  [undefined, '1', '10', 'refused'],
] as const)('%s between %s and %s is %s', (amount, least, most, reason) => {
  const limits = { minAmount: least as Amount | undefined, maxAmount: most as Amount | undefined }
  expect(reasonByLimits(amount as Amount | undefined, limits)).toBe(reason)
})
