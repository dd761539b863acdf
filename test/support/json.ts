/** JSON with the digits that were sent: numbers are kept as `JSON.rawJSON` values, in both directions. */

/** A number by its lexeme: prints as it is written, and equals a number that was read with the same digits. */
export interface Digits {
  readonly rawJSON: string
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

const json = JSON as unknown as {
  readonly rawJSON: (text: string) => Digits
  readonly parse: (text: string, reviver: Reviver) => unknown
}

/** `digits('1.10')` is the number 1.10 and not 1.1. */
export function digits(lexeme: string): Digits {
  return json.rawJSON(lexeme)
}

/** The document with every number as its lexeme. */
export function readJson(text: string): unknown {
  return json.parse(text, (_, value, { source }) => (typeof value === 'number' ? digits(source ?? '') : value))
}
