import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  type Amount,
  compareAmounts,
  divide,
  isPositive,
  isZero,
  lastPlaceOf,
  multiplySubtract,
  roundDown,
  stepUp,
  toAmount,
} from './amount.ts'
import { reasonByAmountRange } from './fault.ts'

/** The oracle: a number as a fraction of two whole ones. */
interface Fraction {
  readonly above: bigint
  readonly below: bigint
}

function fraction(lexeme: string): Fraction {
  const [, sign, whole = '', , decimals = '', power = '0'] = /^(-?)(\d+)(\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(lexeme) ?? []
  const exponent = Number(power) - decimals.length
  const digits = BigInt(`${sign}${whole}${decimals}`)
  return exponent < 0 ? { above: digits, below: 10n ** BigInt(-exponent) } : { above: digits * 10n ** BigInt(exponent), below: 1n }
}

const isSame = (a: Fraction, b: Fraction): boolean => a.above * b.below === b.above * a.below
const over = (a: Fraction, b: Fraction): Fraction => ({ above: a.above * b.below, below: a.below * b.above })
const magnitude = (value: bigint): bigint => (value < 0n ? -value : value)

/** Whether a decimal writes it whole: what is left of the denominator after all twos and fives divides the numerator. */
function ends({ above, below }: Fraction): boolean {
  let rest = magnitude(below)
  for (const factor of [2n, 5n]) while (rest % factor === 0n) rest /= factor
  return above % rest === 0n
}

/** Long division, digit by digit, to 18 significant ones, half to the even. */
function rounded({ above, below }: Fraction): Fraction {
  const [top, bottom] = [magnitude(above), magnitude(below)]
  let scale = 0
  while (top * 10n ** BigInt(Math.max(scale, 0)) < bottom * 10n ** BigInt(17 + Math.max(-scale, 0))) scale++
  while (top * 10n ** BigInt(Math.max(scale, 0)) >= bottom * 10n ** BigInt(18 + Math.max(-scale, 0))) scale--
  const numerator = top * 10n ** BigInt(Math.max(scale, 0))
  const denominator = bottom * 10n ** BigInt(Math.max(-scale, 0))
  const [digits, rest] = [numerator / denominator, numerator % denominator]
  const isUp = 2n * rest > denominator || (2n * rest === denominator && digits % 2n === 1n)
  const sign = above < 0n !== below < 0n ? -1n : 1n
  const value = sign * (digits + (isUp ? 1n : 0n))
  return scale < 0 ? { above: value * 10n ** BigInt(-scale), below: 1n } : { above: value, below: 10n ** BigInt(scale) }
}

const amount: fc.Arbitrary<Amount> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.bigInt({ min: 0n, max: 12n })),
    fc.option(fc.stringMatching(/^[0-9]{1,20}$/), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), fc.integer({ min: 0, max: 40 })), { nil: undefined }),
  )
  .map(([sign, whole, decimals, power]) => `${sign}${whole}${decimals === undefined ? '' : `.${decimals}`}${power?.join('') ?? ''}`)
  .map((lexeme) => toAmount(lexeme) as Amount)

const plain = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/

describe('two amounts', () => {
  it('compare by value, however they are written', () => {
    const property = fc.property(amount, amount, (a, b) => {
      const [x, y] = [fraction(a), fraction(b)]
      const difference = x.above * y.below - y.above * x.below
      expect(Math.sign(compareAmounts(a, b))).toBe(difference > 0n ? 1 : difference < 0n ? -1 : 0)
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  it.each([
    ['1.10', '1.1'],
    ['1e-8', '0.00000001'],
    ['1E+2', '100'],
    ['-0', '0e40'],
    ['0.0', '0'],
  ])('%s and %s are the same', (a, b) => {
    expect(compareAmounts(a as Amount, b as Amount)).toBe(0)
  })

  it('subtract exactly after they were multiplied', () => {
    const property = fc.property(amount, amount, amount, (a, b, c) => {
      const [x, y, z] = [fraction(a), fraction(b), fraction(c)]
      const expected = { above: x.above * y.above * z.below - z.above * x.below * y.below, below: x.below * y.below * z.below }
      const result = multiplySubtract(a, b, c)
      expect(result).toMatch(plain)
      expect(isSame(fraction(result), expected)).toBe(true)
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  it('divide exactly if the quotient is finite, otherwise to 18 significant digits, half to the even', () => {
    const property = fc.property(amount, amount, (a, b) => {
      const quotient = over(fraction(a), fraction(b))
      const result = divide(a, b)
      const expected = quotient.below === 0n ? undefined : ends(quotient) ? quotient : rounded(quotient)
      expect(result === undefined).toBe(expected === undefined)
      if (result === undefined || expected === undefined) return
      expect(result).toMatch(plain)
      expect(isSame(fraction(result), expected)).toBe(true)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it.each([
    ['1', '3', '0.333333333333333333'],
    ['2', '3', '0.666666666666666667'],
    ['-2', '3', '-0.666666666666666667'],
    ['1', '8', '0.125'],
    ['10', '4', '2.5'],
    ['100', '1e-2', '10000'],
    ['1e40', '3', '3333333333333333330000000000000000000000'],
    ['2.9999999999999999999', '3', '1'],
    ['0', '7', '0'],
    ['-0', '7', '0'],
    ['519.10', '100.0', '5.191'],
  ])('%s by %s is %s', (a, b, expected) => {
    expect(divide(a as Amount, b as Amount)).toBe(expected)
  })

  it('do not divide by nothing, however it is written', () => {
    for (const zero of ['0', '-0', '0.000', '0e-40']) expect(divide('1' as Amount, zero as Amount)).toBeUndefined()
  })
})

it('an amount is positive, zero or neither', () => {
  const property = fc.property(amount, (value) => {
    const { above } = fraction(value)
    expect([isPositive(value), isZero(value)]).toEqual([above > 0n, above === 0n])
  })
  fc.assert(property)
})

describe('a lexeme', () => {
  it.each(['0', '-0', '0.123456789012345678', '1e-8', '1.10', '1E+40', '1e-40', '1e0000040', '9'.repeat(64)])(
    '%s is an amount as it stands',
    (lexeme) => {
      expect(toAmount(lexeme)).toBe(lexeme)
    },
  )

  it.each(['', ' 1', '1 ', '+1', '.5', '5.', '01', '1e', '0x1', '1,5', 'NaN', 'Infinity', '1n', '١', '1e1.5', '1\n', '- 1'])(
    '%j is none',
    (lexeme) => {
      expect(toAmount(lexeme)).toBeUndefined()
    },
  )

  it.each(['1e41', '1e-41', '1E+41', `1e${'9'.repeat(50)}`, '9'.repeat(65), `0.${'0'.repeat(63)}`])(
    '%s is beyond the bounds',
    (lexeme) => {
      expect(toAmount(lexeme)).toBeUndefined()
    },
  )
})

it.each([
  ['1.239', 2, '1.23', '1.24'],
  ['1.999', 2, '1.99', '2'],
  ['0.001', 2, '0', '0.01'],
  ['12.5', 0, '12', '13'],
  ['1239e-3', 2, '1.23', '1.24'],
])('%s with %i decimals is between %s and %s', (amount, decimals, lower, upper) => {
  const rounded = roundDown(amount as Amount, decimals)
  expect(rounded).toBe(lower)
  expect(stepUp(lower as Amount, decimals)).toBe(upper)
})

it.each([
  ['100.123456789012345', '100.1234567890123', '100.1234567890124'],
  ['0.00012345678901234567', '0.0001234567890123456', '0.0001234567890123457'],
  ['12345678901234567', '12345678901234560', '12345678901234570'],
  ['123456789012345678e-10', '12345678.90123456', '12345678.90123457'],
  ['99999999999999999', '99999999999999990', '100000000000000000'],
  ['9.9999999999999999', '9.999999999999999', '10'],
])('%s with 16 significant digits is between %s and %s', (amount, lower, upper) => {
  const place = lastPlaceOf(amount as Amount, 16)
  expect(roundDown(amount as Amount, place)).toBe(lower)
  expect(stepUp(lower as Amount, place)).toBe(upper)
})

it.each(['100.1234567890123', '1e30', '1234567890123456000', '0.10000000000000000', '12345678.90123456'])(
  '%s has no more than 16 significant digits',
  (amount) => {
    expect(roundDown(amount as Amount, lastPlaceOf(amount as Amount, 16))).toBeUndefined()
  },
)

it.each([
  ['1.23', 2],
  ['1.2300', 2],
  ['1e2', 0],
  ['7', 30],
])('%s has no more than %i decimals', (amount, decimals) => {
  expect(roundDown(amount as Amount, decimals)).toBeUndefined()
})

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
  const range = { minAmount: least as Amount | undefined, maxAmount: most as Amount | undefined }
  expect(reasonByAmountRange(amount as Amount | undefined, range)).toBe(reason)
})
