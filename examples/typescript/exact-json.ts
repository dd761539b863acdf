/** JSON with exact amounts: as text, with the digits that were sent. As numbers they would lose digits after the fifteenth. */

/** In Node from 22 and in browsers from 2025; TypeScript has no types for them yet. */
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ) => unknown
  readonly rawJSON: (text: string) => object
}

/** The fields of both forms that are amounts. */
export const amountNames = [
  ...([
    'amount',
    'amountTo',
    'depositMax',
    'depositMin',
    'fee',
    'fromAmount',
    'maxAmount',
    'minAmount',
    'rate',
    'toAmount',
  ] as const),
  ...(['amount_in', 'amount_out', 'amount_out_expected'] as const),
] as const

type AmountName = (typeof amountNames)[number]

/** The type with texts for amounts. */
export type Exact<T> = T extends readonly (infer Item)[]
  ? readonly Exact<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Key extends AmountName ? ExactAmount<T[Key]> : Exact<T[Key]> }
    : T

type ExactAmount<T> = T extends number ? string : T

const isAmount: ReadonlySet<string> = new Set(amountNames)
const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** `{"amount":0.10}` becomes `{ amount: '0.10' }`. Other numbers, like pages and codes, stay numbers. */
export function parseExact(text: string): unknown {
  return parse(text, (key, value, { source }) => (typeof value === 'number' && isAmount.has(key) ? source : value))
}

/** `{ amount: '0.10' }` becomes `{"amount":0.10}`. Throws if an amount is not a number of JSON. */
export function printExact(value: object): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (!isAmount.has(key) || typeof member !== 'string') return member
    if (!numberPattern.test(member)) throw new TypeError(`${key} must be a number in JSON's syntax, like 0.10`)
    return rawJSON(member)
  })
}
