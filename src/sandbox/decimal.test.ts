import { expect, test } from 'vitest'
import { cut, decimal, significant } from './decimal.ts'

test.each([
  ['1.23456789', 4, '1.2345'],
  ['1.2000', 4, '1.2'],
  ['7', 4, '7'],
  ['0.00009', 4, '0'],
])('%s cut to %i decimals is %s', (amount, decimals, expected) => {
  expect(cut(decimal(amount), decimals)).toBe(expected)
})

test.each([
  ['123456', 3, '123000'],
  ['12.3456', 3, '12.3'],
  ['0.000123456', 3, '0.000123'],
  ['123', 3, '123'],
  ['1.5', 3, '1.5'],
  ['0', 3, '0'],
])('the first digits of %s, %i of them, are %s', (amount, digits, expected) => {
  expect(significant(decimal(amount), digits)).toBe(expected)
})
