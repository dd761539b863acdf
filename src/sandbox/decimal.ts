/** Exact decimals cut to the digits that a coin or a rate has. Amounts here are not negative. */
import { type Amount, multiplySubtract, toAmount } from '../domain/amount.ts'

export const zero = decimal('0')
export const one = decimal('1')

/** Throws where the text is not an amount: for text that the sandbox itself writes. */
export function decimal(text: string): Amount {
  const amount = toAmount(text)
  if (amount === undefined) throw new RangeError(`${text} is not an amount`)
  return amount
}

/** Exact and plain. */
export function product(a: Amount, b: Amount): Amount {
  return multiplySubtract(a, b, zero)
}

/** `a` − `b`, exact and plain. */
export function difference(a: Amount, b: Amount): Amount {
  return multiplySubtract(a, one, b)
}

/** `a` + `b`, exact and plain. */
export function sum(a: Amount, b: Amount): Amount {
  return multiplySubtract(a, one, multiplySubtract(zero, zero, b))
}

/** A plain amount without what is past so many decimals. */
export function cut(amount: Amount, decimals: number): Amount {
  const [whole = '', fraction = ''] = amount.split('.')
  const kept = fraction.slice(0, decimals).replace(/0+$/, '')
  return decimal(kept === '' ? whole : `${whole}.${kept}`)
}

/** A plain amount with only its first so many significant digits. */
export function significant(amount: Amount, digits: number): Amount {
  const [whole = '', fraction = ''] = amount.split('.')
  if (whole.length >= digits) return decimal(whole.slice(0, digits).padEnd(whole.length, '0'))
  if (whole !== '0') return cut(amount, digits - whole.length)
  const zeros = fraction.search(/[1-9]/)
  return cut(amount, zeros + digits)
}
