/** How JSON bodies and query strings write each type of value. Nothing is coerced: a wrong type is an error. */
import { type Amount, isPositive, toAmount } from '../../domain/amount.ts'
import { toTimeRange } from '../../domain/instant.ts'
import { type Status, statuses } from '../../domain/status.ts'
import type { RateType } from '../../domain/swap.ts'
import { isTransactionId } from '../../domain/swap.ts'
import { JsonNumber, type JsonValue, printString } from '../json.ts'
import type { Schema } from '../schema.ts'

/** Undefined: not a value of this type. */
export interface Scalar<Value> {
  /** What a value must be, to end the sentence "Invalid size: it must be …". */
  readonly must: string
  readonly schema: Schema
  fromJson(value: JsonValue): Value | undefined
  toJson(value: Value): string
  fromText(text: string): Value | undefined
  toText(value: Value): string
}

/** Values that are text on the wire. */
function textual<Value extends string>(
  must: string,
  read: (text: string) => Value | undefined,
  schema: Schema = {},
): Scalar<Value> {
  return {
    must,
    schema: { type: 'string', ...schema },
    fromJson: (value) => (typeof value === 'string' ? read(value) : undefined),
    toJson: printString,
    fromText: read,
    toText: (value) => value,
  }
}

/** Values that are JSON numbers, with the same digits in a query. */
function numeric<Value>(must: string, read: (lexeme: string) => Value | undefined, schema: Schema): Scalar<Value> {
  return {
    must,
    schema,
    fromJson: (value) => (value instanceof JsonNumber ? read(value.lexeme) : undefined),
    toJson: String,
    fromText: read,
    toText: String,
  }
}

const rateTypes: readonly RateType[] = ['fixed', 'float']
const integer = /^(?:0|[1-9][0-9]*)$/
const printableAscii = /^[\x21-\x7e]{1,256}$/
const withoutControls = /^[^\u0000-\u001f\u007f-\u009f]{1,256}$/

function integerBetween(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const value = integer.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  }
}

function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word | undefined {
  return (text) => words.find((word) => word === text)
}

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined)
}

/** `true` or `false`. */
const flag: Scalar<boolean> = {
  must: 'true or false',
  schema: { type: 'boolean' },
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
  toJson: String,
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  toText: String,
}

/** Types in a client's request. */
export const requestScalars = {
  name: textual('a text that is not empty', (text) => text || undefined, { minLength: 1 }),
  address: textual('an address of 1 to 256 ASCII characters without spaces', matching(printableAscii), {
    pattern: '^[!-~]{1,256}$',
  }),
  extraId: textual('a text of at most 256 characters without control characters', matching(withoutControls), { maxLength: 256 }),
  rateType: textual<RateType>('fixed or float', oneOf(rateTypes), { enum: rateTypes }),
  date: textual('an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD', (text) => (toTimeRange(text) ? text : undefined), {
    pattern: '^\\d{4}-\\d{2}-\\d{2}(?:[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2}))?$',
  }),
  flag,
  page: numeric('an integer from 1', integerBetween(1, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 1 }),
  /** Only towards a provider. */
  offset: numeric('an integer from 0', integerBetween(0, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 0 }),
  size: numeric('an integer from 1 to 100', integerBetween(1, 100), { type: 'integer', minimum: 1, maximum: 100 }),
  amount: numeric<Amount>(
    'a number above 0, of at most 64 characters and with an exponent from -40 to 40',
    (lexeme) => {
      const amount = toAmount(lexeme)
      return amount !== undefined && isPositive(amount) ? amount : undefined
    },
    { type: 'number', exclusiveMinimum: 0 },
  ),
}

/** The maximum length of a provider's texts, far beyond addresses, memos and hashes: it limits what the ledger stores. */
const maxTextLength = 4_096

function withinTextLimit(text: string): string | undefined {
  return text.length <= maxTextLength ? text : undefined
}

/** A value that is judged or compared, and never shown as it is. What is neither text nor number says nothing: a row is not lost by it. */
function lenient(must: string) {
  return {
    ...textual(must, (text) => text.slice(0, maxTextLength)),
    fromJson: (value: JsonValue) => (value instanceof JsonNumber ? value.lexeme : typeof value === 'string' ? value.trim() : ''),
  }
}

/** Types in a provider's response. */
export const responseScalars = {
  text: textual(`a text of at most ${maxTextLength} characters`, withinTextLimit),
  /** Never stored with a transaction. */
  longText: textual('a text', (text) => text),
  name: textual(`a text of 1 to ${maxTextLength} characters`, (text) => withinTextLimit(text) || undefined, { minLength: 1 }),
  /** It becomes a segment of a path. */
  id: textual('an id of 1 to 256 characters', (text) => (isTransactionId(text) ? text : undefined), { minLength: 1 }),
  date: textual(`a text of at most ${maxTextLength} characters`, withinTextLimit, { format: 'date-time' }),
  /** Of a token; the id of an asset may be a number. */
  contract: lenient('a contract'),
  /** That of a create. */
  reference: lenient('a reference'),
  /** A time in any spelling. */
  expiry: lenient('a time'),
  flag,
  rateType: requestScalars.rateType,
  status: textual<Status>('a status', oneOf(statuses)),
  amount: numeric<Amount>('a number', toAmount, { type: 'number' }),
  count: numeric('an integer from 0', integerBetween(0, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 0 }),
}
