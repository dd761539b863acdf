/** Checks requests to a stand-in: what its documentation does not name is refused. */
import { type Asked, Refused } from './exchange.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Throws for a name beyond these, and for one that is needed and missing or empty. */
export function requireNames(fields: Fields, needed: readonly string[], optional: readonly string[] = []): void {
  const unknown = Object.keys(fields).find((name) => !needed.includes(name) && !optional.includes(name))
  if (unknown !== undefined) throw new Refused('parameter', unknown)
  const missing = needed.find((name) => fields[name] === undefined || fields[name] === null || fields[name] === '')
  if (missing !== undefined) throw new Refused('parameter', missing)
}

export function wordOf<Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === fields[name])
  if (word === undefined) throw new Refused('parameter', name)
  return word
}

/** A JSON number. */
export function numberOf(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number' || !(value > 0)) throw new Refused('parameter', name)
  return value
}

/** A number written as text. */
export function numberTextOf(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'string' || !/^\d+(?:\.\d+)?$/.test(value) || !(Number(value) > 0)) throw new Refused('parameter', name)
  return Number(value)
}

/** The amount, by one of two names. */
export function askedOf(fields: Fields, sent: string, received: string, read = numberTextOf): Asked {
  const isGiven = (name: string): boolean => ![undefined, null, ''].includes(fields[name] as undefined)
  const isReceived = isGiven(received)
  if (isReceived && isGiven(sent)) throw new Refused('parameter', sent)
  return { isReceived, amount: read(fields, isReceived ? received : sent) }
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new Refused('parameter', name)
  return value
}

/** Undefined where it is missing, null or empty. */
export function optionalTextOf(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined || fields[name] === null || fields[name] === '' ? undefined : textOf(fields, name)
}

/** A count of a query, from `least` to `most`. */
export function countOf(fields: Fields, name: string, standard: number, least: number, most: number): number {
  if (fields[name] === undefined) return standard
  const value = Number(fields[name])
  if (!Number.isInteger(value) || value < least || value > most) throw new Refused('parameter', name)
  return value
}

export function objectOf(value: unknown, name = 'body'): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refused('parameter', name)
  return value as Fields
}

export function bodyOf({ body, headers }: { readonly body: string; readonly headers: Fields }): Fields {
  if (headers['content-type'] !== 'application/json') throw new Refused('parameter', 'content-type')
  try {
    return objectOf(JSON.parse(body))
  } catch {
    throw new Refused('parameter', 'body')
  }
}
