/** Exact decimals as text. No amount is ever converted to binary floating point (docs/contract.md §3). */

declare const brand: unique symbol

/** A decimal number in JSON's grammar, at most 64 characters, with an exponent between -40 and 40. */
export type Amount = string & { readonly [brand]: 'Amount' }

const plain = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const scientific = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE]([+-]?[0-9]+)$/
const maxLength = 64
const maxExponent = 40
const derivedDigits = 18

/** The lexeme as an amount, or undefined if it is outside JSON's grammar or the bounds. */
export function toAmount(lexeme: string): Amount | undefined {
  if (lexeme.length > maxLength) return undefined
  if (plain.test(lexeme)) return branded(lexeme)
  const [, exponent] = scientific.exec(lexeme) ?? []
  return exponent !== undefined && Math.abs(Number(exponent)) <= maxExponent ? branded(lexeme) : undefined
}

/** Only for text within the grammar and the bounds. */
function branded(text: string): Amount {
  return text as Amount
}

export const zero = branded('0')
export const one = branded('1')
export const two = branded('2')
export const thousand = branded('1000')

/** Negative, zero or positive if `a` is less than, equal to or greater than `b` by value: `1.10` equals `1.1`. */
export function compareAmounts(a: Amount, b: Amount): number {
  const difference = minus(parse(a), parse(b)).digits
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** Whether one may be the other, kept with fewer digits: they differ by the last digit of the shorter one, or by a millionth. */
export function mayBeShortened(a: Amount, b: Amount): boolean {
  const [one, other] = [parse(plainAmount(a)), parse(plainAmount(b))]
  const { digits, scale } = minus(one, other)
  const difference = magnitude(digits)
  const value = magnitude(rescale(other, scale))
  const shortScale = Math.min(one.scale, other.scale)
  const isRounded = difference <= 10n ** BigInt(scale - shortScale)
  // Eight decimals are the most that many keep: of a tiny amount they are few digits.
  return difference * 1_000_000n <= value || (isRounded && difference * (shortScale >= 8 ? 10n : 1_000n) <= value)
}

export function isPositive(amount: Amount): boolean {
  return parse(amount).digits > 0n
}

export function isZero(amount: Amount): boolean {
  return parse(amount).digits === 0n
}

/** No ordinary amount is greater, in any coin. */
export const largestOrdinary = branded('1e15')
const maxOrdinaryDecimals = 18

/** Whether an amount is so large or has so many decimals that the figures of an honest answer may be outside of this grammar. */
export function isExtreme(amount: Amount): boolean {
  return parse(plainAmount(amount)).scale > maxOrdinaryDecimals || compareAmounts(amount, largestOrdinary) > 0
}

/** `amount` × `rate` − `subtrahend`, exact, in plain notation. */
export function multiplySubtract(amount: Amount, rate: Amount, subtrahend: Amount): Amount {
  const a = parse(amount)
  const b = parse(rate)
  return print(minus({ digits: a.digits * b.digits, scale: a.scale + b.scale }, parse(subtrahend)))
}

/** Whether it is the expected amount, but for rounding: they differ by a millionth of that or less, or by 0.00000001 or less. */
export function isSameButForRounding(amount: Amount, expected: Amount): boolean {
  const { digits, scale } = minus(parse(amount), parse(expected))
  const distance = { digits: magnitude(digits), scale }
  const share = { digits: magnitude(parse(expected).digits), scale: parse(expected).scale + 6 }
  return [share, smallest].some((tolerance) => minus(distance, tolerance).digits <= 0n)
}

/** (`amount` - `reference`) / `reference`, exact until the conversion to a number. Undefined if the reference is 0. */
export function deviationOf(amount: Amount, reference: Amount): number | undefined {
  const deviation = divide(multiplySubtract(amount, one, reference), reference)
  return deviation === undefined ? undefined : Number(deviation)
}

/** The canonical text of the value: `1.10`, `1.1` and `11e-1` are all `1.1`. */
export function plainAmount(amount: Amount): Amount {
  return print(parse(amount))
}

/** The same digits, trailing zeros too, without an exponent: `1e-7` is `0.0000001`. */
export function withoutExponent(amount: Amount): Amount {
  return /e/i.test(amount) ? plainAmount(amount) : amount
}

/** The decimal place of the last of so many significant digits of an amount; negative: before the point. */
export function lastPlaceOf(amount: Amount, digits: number): number {
  const parsed = parse(amount)
  return digits - String(magnitude(parsed.digits)).length + parsed.scale
}

/**
 * A positive amount without what is past so many decimals, which may be negative; undefined if it has no more than these, trailing zeros
 * aside.
 */
export function roundDown(amount: Amount, decimals: number): Amount | undefined {
  const point = amount.indexOf('.')
  const isPlain = decimals >= 0 && !/e/i.test(amount)
  if (isPlain && (point < 0 || amount.length - point - 1 <= decimals)) return undefined // most amounts
  const { digits, scale } = parse(amount)
  if (scale <= decimals) return undefined
  const cut = 10n ** BigInt(scale - decimals)
  return digits % cut === 0n ? undefined : print({ digits: digits / cut, scale: decimals })
}

/** The next larger amount with so many decimals, for one that has no more than these. */
export function stepUp(amount: Amount, decimals: number): Amount {
  const scale = Math.max(decimals, 0)
  return print({ digits: rescale(parse(amount), scale) + 10n ** BigInt(scale - decimals), scale })
}

/** `a` ÷ `b`: exact if the decimal is finite, otherwise rounded half-even to 18 significant digits. Undefined if `b` is 0. */
export function divide(a: Amount, b: Amount): Amount | undefined {
  const above = parse(a)
  const below = parse(b)
  if (below.digits === 0n) return undefined
  const sign = above.digits < 0n !== below.digits < 0n ? -1n : 1n
  const quotient = ratio(magnitude(above.digits), magnitude(below.digits))
  return print({ digits: sign * quotient.digits, scale: quotient.scale + above.scale - below.scale })
}

/** An exact sum, of any number of digits. */
export class AmountSum {
  private sum: Decimal = { digits: 0n, scale: 0 }

  /** Of an amount, or of the text of another sum. */
  add(amount: string): void {
    const added = parse(amount as Amount)
    const scale = Math.max(this.sum.scale, added.scale)
    this.sum = { digits: rescale(this.sum, scale) + rescale(added, scale), scale }
  }

  /** In plain notation, without trailing zeros. */
  toString(): string {
    return print(this.sum)
  }

  toJSON(): string {
    return this.toString()
  }
}

/** digits × 10^-scale */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const smallest: Decimal = { digits: 1n, scale: 8 }

function parse(amount: Amount): Decimal {
  const at = Math.max(amount.indexOf('e'), amount.indexOf('E'))
  const mantissa = at < 0 ? amount : amount.slice(0, at)
  const exponent = at < 0 ? 0 : Number(amount.slice(at + 1))
  const point = mantissa.indexOf('.')
  if (point < 0) return { digits: BigInt(mantissa), scale: 0 - exponent }
  return { digits: BigInt(mantissa.slice(0, point) + mantissa.slice(point + 1)), scale: mantissa.length - point - 1 - exponent }
}

function minus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: rescale(a, scale) - rescale(b, scale), scale }
}

function rescale({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale)
}

/** A quotient is a finite decimal if its reduced denominator has only the factors 2 and 5; their larger power is its number of places. */
function ratio(above: bigint, below: bigint): Decimal {
  const reduced = below / greatestCommonDivisor(above, below)
  const twos = powerOf(2n, reduced)
  const fives = powerOf(5n, reduced)
  const ends = reduced === 2n ** BigInt(twos) * 5n ** BigInt(fives)
  if (!ends) return roundedRatio(above, below)
  const scale = Math.max(twos, fives)
  return { digits: (above * 10n ** BigInt(scale)) / below, scale }
}

/** A quotient exactly half-way would be finite, so half-even is plain rounding here. */
function roundedRatio(above: bigint, below: bigint): Decimal {
  let scale = derivedDigits + String(below).length - String(above).length
  if (scaled(above, scale) >= scaled(below, derivedDigits)) scale -= 1
  const numerator = scale >= 0 ? scaled(above, scale) : above
  const denominator = scale >= 0 ? below : scaled(below, -scale)
  return { digits: (2n * numerator + denominator) / (2n * denominator), scale }
}

function scaled(value: bigint, places: number): bigint {
  return places >= 0 ? value * 10n ** BigInt(places) : value / 10n ** BigInt(-places)
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}

function powerOf(factor: bigint, value: bigint): number {
  let power = 0
  for (let remaining = value; remaining % factor === 0n; remaining /= factor) power++
  return power
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

function print({ digits, scale }: Decimal): Amount {
  const sign = digits < 0n ? '-' : ''
  const text = String(magnitude(digits))
  if (scale <= 0) return branded(sign + (digits === 0n ? '0' : text + '0'.repeat(-scale)))
  const padded = text.padStart(scale + 1, '0')
  const fraction = padded.slice(-scale).replace(/0+$/, '')
  return branded(sign + padded.slice(0, -scale) + (fraction && `.${fraction}`))
}
