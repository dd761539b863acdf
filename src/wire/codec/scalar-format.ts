/** Formats of real APIs for one value, in place of the default of its field. Nothing is guessed: any other value is an error. */
import { isZero, toAmount } from '../../domain/amount.ts'
import { type TimeRange, toInstant, toTimeRange } from '../../domain/instant.ts'
import { JsonNumber, type JsonValue, printString } from '../json.ts'
import type { Scalar } from './scalar.ts'

export type ScalarFormat = (scalar: Scalar<unknown>) => Scalar<unknown>

/** A number as text. Both are decoded, without drift. */
export const asText: ScalarFormat = (scalar) => ({
  ...scalar,
  fromJson: (value) => (typeof value === 'string' ? scalar.fromText(value) : scalar.fromJson(value)),
  toJson: (value) => printString(scalar.toText(value)),
})

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
