import { expect, it } from 'vitest'
import { formatPercent } from './values.ts'

it.each([
  [-0.005, '-0.500 %'],
  [0.005, '+0.500 %'],
  [0, '0.000 %'],
  [-0.000001, '0.000 %'],
  [0.000001, '0.000 %'],
  [null, '-'],
])('a share of %s is printed as %s', (share, text) => expect(formatPercent(share)).toBe(text))
