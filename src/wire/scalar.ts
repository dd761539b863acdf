/** How JSON bodies and query strings write each type of value. Nothing is coerced: a wrong type is an error. */
import { isAddressText, isMemoText, maxMemoLength } from '../domain/address/rule.ts'
import { type Amount, isPositive, isZero, toAmount, withoutExponent } from '../domain/amount.ts'
import { type Reason, reasons } from '../domain/fault.ts'
import { type TimeRange, toInstant, toTimeRange } from '../domain/instant.ts'
import { complaintReasons } from '../domain/question.ts'
import { type SandboxEvent, sandboxEvents } from '../domain/sandbox-event.ts'
import { attentions, roundDown, type Status, type StatusReason, statuses, statusReasons } from '../domain/status.ts'
import { isTransactionId, type RateType } from '../domain/swap.ts'
import { type Capability, capabilities } from '../domain/swap-action.ts'
import { JsonNumber, JsonObject, type JsonValue, printString } from './json.ts'
import type { Schema } from './schema.ts'

/** Undefined: not a value of this type. */
export interface Scalar<Value> {
  /** What a value must be, to end the sentence "Invalid size: it must be …". */
  readonly must: string
  readonly schema: Schema
  /** What is wrong with a text or a number that is no value, to end the sentence "…, but …"; absent where `must` says it all. */
  readonly explain?: (text: string) => string
  /** A value of a response that is none of this type says nothing: it is counted, and the response stands. */
  readonly isLenient?: true
  /** Whether a value of a response is another way to leave it out. */
  readonly isNone?: (value: JsonValue) => boolean
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

function integerBetween(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const value = integer.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  }
}

function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word | undefined {
  return (text) => words.find((word) => word === text)
}

function where(holds: (text: string) => boolean): (text: string) => string | undefined {
  return (text) => (holds(text) ? text : undefined)
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

/** A number as JSON number or as text, for clients whose numbers would lose digits. Encoded as a number. */
function orText<Value>(scalar: Scalar<Value>): Scalar<Value> {
  return { ...scalar, fromJson: (value) => (typeof value === 'string' ? scalar.fromText(value) : scalar.fromJson(value)) }
}

const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** Of a text that is no amount above 0. */
function explainAmount(text: string): string {
  if (text.length > 64) return `it has ${text.length} characters`
  if (text.includes(',')) return 'it has a comma; decimals follow a point, as in 0.5'
  if (text.startsWith('-')) return 'it is negative'
  if (/^0[0-9]/.test(text)) return 'it begins with a 0 before another digit'
  if (text.startsWith('.')) return 'it has no digit before the point'
  if (!number.test(text)) return 'it is not a number'
  return /[1-9]/.test(text.replace(/[eE].*/, '')) ? 'its exponent is beyond that' : 'it is 0'
}

function positiveAmount(lexeme: string): Amount | undefined {
  const amount = toAmount(lexeme)
  return amount !== undefined && isPositive(amount) ? amount : undefined
}

function limitAmount(lexeme: string): Amount | undefined {
  const amount = toAmount(lexeme)
  return amount !== undefined && (isPositive(amount) || isZero(amount)) ? amount : undefined
}

/** Whether a text is a link that a person may follow: `https:`, without a user in it, as it is written. */
function isLink(text: string): boolean {
  if (!/^https:\/\/[!-~]{1,2040}$/.test(text) || /["'<>\\`{}|^]/.test(text)) return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}

/** Types in a client's request. */
export const requestScalars = {
  name: textual('a text', (text) => text || undefined, { minLength: 1 }),
  address: textual('an address of 1 to 256 ASCII characters without spaces', where(isAddressText), {
    pattern: '^[!-~]{1,256}$',
  }),
  extraId: textual(`a text of at most ${maxMemoLength} characters without control characters`, where(isMemoText), {
    maxLength: maxMemoLength,
  }),
  rateType: textual<RateType>('fixed or float', oneOf(rateTypes), { enum: rateTypes }),
  date: textual('an RFC 3339 timestamp with a zone, or a date YYYY-MM-DD', (text) => (toTimeRange(text) ? text : undefined), {
    pattern: '^\\d{4}-\\d{2}-\\d{2}(?:[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2}))?$',
  }),
  /** Some languages write `True`. */
  flag: { ...flag, fromText: (text: string) => flag.fromText(text.toLowerCase()) },
  sort: textual('createdAt', oneOf(['createdAt']), { enum: ['createdAt'] }),
  sandboxEvent: textual<SandboxEvent>(`one of ${sandboxEvents.join(', ')}`, oneOf(sandboxEvents), { enum: sandboxEvents }),
  order: textual('asc or desc', (text) => oneOf(['asc', 'desc'])(text.toLowerCase()), { enum: ['asc', 'desc'] }),
  page: numeric('an integer from 1', integerBetween(1, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 1 }),
  /** Only towards a provider. */
  offset: numeric('an integer from 0', integerBetween(0, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 0 }),
  size: numeric('an integer from 1 to 100', integerBetween(1, 100), { type: 'integer', minimum: 1, maximum: 100 }),
  amount: orText({
    ...numeric<Amount>('a number above 0, of at most 64 characters and with an exponent from -40 to 40', positiveAmount, {
      type: 'number',
      exclusiveMinimum: 0,
    }),
    explain: explainAmount,
  }),
}

/** A status of the form in a request: it stands for every status that the form shows as this one. */
export function statusFilter(available: ReadonlySet<Status>): Scalar<readonly Status[]> {
  const shownAs = Map.groupBy(statuses, (status) => roundDown(status, available))
  const words = [...available]
  const read = (text: string): readonly Status[] | undefined => {
    const word = words.find((candidate) => candidate === text)
    return word && shownAs.get(word)
  }
  const write = ([first]: readonly Status[]): string => (first && roundDown(first, available)) ?? ''
  return {
    must: `one of ${words.join(', ')}`,
    schema: { type: 'string', enum: words },
    fromJson: (value) => (typeof value === 'string' ? read(value) : undefined),
    toJson: (value) => printString(write(value)),
    fromText: read,
    toText: write,
  }
}

/** The maximum length of a provider's texts, far beyond addresses, memos and hashes: it limits what the ledger stores. */
const maxTextLength = 4_096

function withinTextLimit(text: string): string | undefined {
  return text.length <= maxTextLength ? text : undefined
}

/** A value that is judged or compared, and never shown as it is. What is neither text nor number says nothing: a row is not lost by it. */
function lenient(must: string, schema: Schema = {}) {
  return {
    ...textual(must, (text) => text.slice(0, maxTextLength), schema),
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
  expiry: lenient('a time', { format: 'date-time' }),
  flag,
  rateType: requestScalars.rateType,
  complaint: textual('address_invalid or memo_invalid', oneOf(complaintReasons)),
  /** Without its words in the description: a later version may have more. */
  reason: textual<Reason>('a reason', oneOf(reasons)),
  status: textual<Status>('a status', oneOf(statuses)),
  amount: numeric<Amount>('a number', toAmount, { type: 'number' }),
  /** What came back of a deposit: an extension of the forms, so that no response is worth less for it. */
  refundHash: { ...textual('a text', withinTextLimit), isLenient: true } as const,
  refundAmount: { ...orText(numeric<Amount>('a number above 0', positiveAmount, { type: 'number' })), isLenient: true } as const,
  /** Passed on only, so that no quote is worth less for it. */
  receivedMin: { ...orText(numeric<Amount>('a number from 0', limitAmount, { type: 'number' })), isLenient: true } as const,
  attention: textual('an attention', oneOf(attentions), { enum: attentions }),
  /** A word that this version lacks is `other`. */
  statusReason: {
    ...textual<StatusReason>('a reason', (text) => oneOf(statusReasons)(text) ?? 'other', { enum: statusReasons }),
    isLenient: true,
  } as const,
  /** It becomes a link in a client's page. */
  supportUrl: { ...textual('a URL of https', where(isLink), { format: 'uri' }), isLenient: true } as const,
  /** One that cannot be read says nothing. */
  hint: { ...flag, isLenient: true } as const,
  /** Only the gateway's own. */
  capabilities: {
    must: 'a list of actions',
    schema: { type: 'array', items: { type: 'string', enum: capabilities } },
    fromJson: () => undefined,
    toJson: (value) => JSON.stringify(value),
    fromText: () => undefined,
    toText: (value) => value.join(','),
  } satisfies Scalar<readonly Capability[]>,
  count: numeric('an integer from 0', integerBetween(0, Number.MAX_SAFE_INTEGER), { type: 'integer', minimum: 0 }),
  /** Passed on only. */
  precision: {
    ...numeric('an integer from 0 to 30', integerBetween(0, 30), { type: 'integer', minimum: 0 }),
    isLenient: true,
  } as const,
}

// Formats of real APIs for one value, in place of the default of its field. Nothing is guessed: any other value is an error.

export type ScalarFormat = (scalar: Scalar<unknown>) => Scalar<unknown>

/** Several values, with commas between them: what any of them stands for. */
export const inCommas: ScalarFormat = (scalar) => {
  const read = (text: string): unknown => {
    const values = text.split(',').map((each) => scalar.fromText(each.trim()))
    return values.includes(undefined) ? undefined : [...new Set(values.flat())]
  }
  return {
    ...scalar,
    must: `${scalar.must}, or several with commas between them`,
    schema: { type: 'string' },
    fromJson: (value) => (typeof value === 'string' ? read(value) : undefined),
    fromText: read,
  }
}

/** A number as text. Both are decoded, without drift. */
export const asText: ScalarFormat = (scalar) => ({
  ...scalar,
  schema: { type: 'string', pattern: '^(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$' },
  fromJson: (value) => (typeof value === 'string' ? scalar.fromText(value) : scalar.fromJson(value)),
  toJson: (value) => printString(scalar.toText(value)),
})

/** An amount without an exponent in a text or a query, where not every API reads one. A JSON number keeps its digits. */
export const plainInText: ScalarFormat = (scalar) => ({ ...scalar, toText: (value) => withoutExponent(value as Amount) })

/** The words for one value of the domain. If there are several, all are decoded and the first is encoded. */
export type Words = Readonly<Record<string, Word | readonly Word[]>>
type Word = string | number | boolean

export function inWords(words: Words): ScalarFormat {
  const entries = Object.entries(words).map(([value, names]) => [value, [names].flat()] as const)
  const meaningOf = new Map(entries.flatMap(([value, names]) => names.map((name) => [name, value] as const)))
  const wordOf = new Map(entries.map(([value, [first]]) => [value, first]))
  return (scalar) => ({
    ...scalar,
    must: `one of ${[...meaningOf.keys()].join(', ')}`,
    fromJson: (value) => meaningOf.get(plainWord(value)),
    toJson: (value) => JSON.stringify(wordOf.get(String(value))),
    fromText: (text) => meaningOf.get(text),
    toText: (value) => String(wordOf.get(String(value))),
  })
}

function plainWord(value: JsonValue): Word {
  if (value instanceof JsonNumber) return Number(value.lexeme)
  return typeof value === 'string' || typeof value === 'boolean' ? value : ''
}

/** The words for one reason: a text, a number, true, or the pattern of a text. */
export type ReasonWords = Readonly<Partial<Record<StatusReason, Word | RegExp | readonly (Word | RegExp)[]>>>

/** The first reason, in the order of the list of reasons, that has such a word. Of a list the first item counts. Anything else that says something is `other`. */
export function inReasons(words: ReasonWords): ScalarFormat {
  const entries = statusReasons.flatMap((reason) => [words[reason] ?? []].flat().map((word) => [word, reason] as const))
  const reasonOf = (value: JsonValue): StatusReason => {
    const said = String(plainWord(Array.isArray(value) ? (value[0] ?? null) : value))
    return entries.find(([word]) => (word instanceof RegExp ? word.test(said) : String(word) === said))?.[1] ?? 'other'
  }
  return (scalar) => ({ ...scalar, isNone: saysNothing, fromJson: reasonOf })
}

/** True if the member says anything. */
export const asPresence: ScalarFormat = (scalar) => ({ ...scalar, isNone: saysNothing, fromJson: () => true })

/** Null, false, 0, and an empty text, list or object. */
export function saysNothing(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (value instanceof JsonObject) return value.keys.length === 0
  return value instanceof JsonNumber ? isZeroAmount(value) : !value
}

// An id whose swap has two members for it at the provider: one before the first dot, and one after it.

export type IdPart = 0 | 1

/** Undefined where the id has no such part. */
export function partOfId(id: string, part: IdPart): string | undefined {
  const at = id.indexOf('.')
  const parts = at < 0 ? [id] : [id.slice(0, at), id.slice(at + 1)]
  return parts[part] || undefined
}

/** In a request one part of the id; in a response the part that the member has. */
export function inIdPart(part: IdPart): ScalarFormat {
  const write = (id: unknown): string => partOfId(String(id), part) ?? ''
  return (scalar) => ({
    ...scalar,
    must: `${scalar.must}${part === 0 ? ' without a dot' : ''}`,
    fromJson(value) {
      const text = scalar.fromJson(value)
      return part === 0 && String(text).includes('.') ? undefined : text
    },
    toJson: (id) => printString(write(id)),
    toText: write,
  })
}

const unitsPerSecond = { s: 1n, ms: 1_000n, us: 1_000_000n } as const
export type UnixUnit = keyof typeof unitsPerSecond
const unixCount = /^(?:0|[1-9]\d{0,17})$/

/**
 * A count of seconds, milliseconds or microseconds since 1970: as a number, or as a number in text. `edge`: which end of a plain date
 * a request means.
 */
export function unixTime(unit: UnixUnit, edge: keyof TimeRange = 'first'): ScalarFormat {
  const perSecond = unitsPerSecond[unit]
  const read = timestampOf
  const write = (value: unknown): string => String(((toTimeRange(String(value))?.[edge] ?? 0n) * perSecond) / 1_000_000_000n)
  return (scalar) => ({
    ...scalar,
    must: `an integer (${unit} since 1970)`,
    fromJson: (value) => (value instanceof JsonNumber ? read(value.lexeme) : typeof value === 'string' ? read(value) : undefined),
    toJson: write,
    fromText: read,
    toText: write,
  })
}

/** A timestamp has four digits for the year. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The timestamp of a count since 1970. Its unit follows from its magnitude, from 1973 to 5138: some APIs respond in another unit than
 * they document.
 */
export function timestampOf(text: string): string | undefined {
  if (!unixCount.test(text)) return undefined
  const count = BigInt(text)
  const perSecond = count < 100_000_000_000n ? 1n : count < 100_000_000_000_000n ? 1_000n : 1_000_000n
  const date = new Date(Number((count * 1_000n) / perSecond))
  return date.getTime() > lastMs ? undefined : date.toISOString()
}

const localTime = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)$/

/** A timestamp without zone, in this zone; one with a zone is kept. One that is no moment is an error. */
export function inZone(zone: 'Z' | `${'+' | '-'}${number}:${number}`): ScalarFormat {
  const read = (text: string): string | undefined => {
    const [, date, time] = localTime.exec(text) ?? []
    const timestamp = date === undefined ? text : `${date}T${time}${zone}`
    return toInstant(timestamp) === undefined ? undefined : timestamp
  }
  return (scalar) => ({
    ...scalar,
    must: 'a date and a time',
    fromJson: (value) => (typeof value === 'string' ? read(value) : undefined),
    fromText: read,
  })
}

/** Encoded in lower case, decoded in any case. */
export const inLowerCase: ScalarFormat = (scalar) => ({
  ...scalar,
  toJson: (value) => printString(String(value).toLowerCase()),
  toText: (value) => String(value).toLowerCase(),
})

/** Whether the value is an amount of 0, in text or not. */
export function isZeroAmount(value: JsonValue): boolean {
  const text = value instanceof JsonNumber ? value.lexeme : value
  const amount = typeof text === 'string' ? toAmount(text) : undefined
  return amount !== undefined && isZero(amount)
}
