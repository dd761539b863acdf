/** The envelope of a page, in both directions. */
import { JsonNumber, JsonObject, type JsonValue, oversizedRow, printString } from './json.ts'
import type { DecodeContext } from './response-nodes.ts'
import { responseScalars } from './scalar.ts'
import { isPresent } from './table.ts'
import { WireError } from './wire-error.ts'

/** Where a page's rows and figures are: a name, or a name inside an object. */
export interface ClientEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | ClientEnvelope
}

/**
 * A provider's page may also have the number of its last page, and names of no use. `hasMore`: true, or a word like a cursor, if there is
 * a page after this one. `ofEachRow`: a member that each row has which has none of its own.
 */
export interface ProviderEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | 'lastPage' | 'hasMore' | 'ofEachRow' | 'unused' | ProviderEnvelope
}

export interface DecodedPage {
  readonly items: readonly JsonValue[]
  /** Undefined where the provider gives no total. */
  readonly total: number | undefined
  readonly lastPage: number | undefined
  /** Undefined where the provider does not say it. */
  readonly hasMore: boolean | undefined
}

export function decodePage(envelope: ProviderEnvelope | 'items', value: JsonValue, context: DecodeContext): DecodedPage {
  if (envelope === 'items') return { items: readItems('', value), total: undefined, lastPage: undefined, hasMore: undefined }
  const page: { items?: readonly JsonValue[]; total?: number; lastPage?: number; hasMore?: boolean } = {}
  const ofEachRow = new JsonObject()
  let nullName: string | undefined
  const walk = (names: ProviderEnvelope, object: JsonValue | undefined): void => {
    if (!(object instanceof JsonObject)) throw new WireError('', 'it must be an object')
    for (const [name, place] of Object.entries(names)) {
      const member = object.get(name)
      if (place === 'items' && member === null) nullName = name
      else if (place === 'items') page.items = readItems(name, member)
      else if (typeof place !== 'string') walk(place, member)
      else if (place === 'hasMore') page.hasMore = isPresent(member)
      else if (place === 'ofEachRow') addMember(ofEachRow, name, member)
      else if (place !== 'unused') {
        const count = readCount(name, member, context)
        if (place === 'total' || place === 'lastPage') page[place] = count
      }
    }
    const unknown = object.keys.find((name) => !Object.hasOwn(names, name))
    if (unknown !== undefined) context.drift('_other', 'unknownField', unknown)
  }
  walk(envelope, value)
  // No rows, as some languages write an empty list.
  if (nullName !== undefined && page.total !== 0) readItems(nullName, null)
  const { items = [], total, lastPage, hasMore } = page
  return { items: ofEachRow.keys.length === 0 ? items : items.map((row) => withMembers(row, ofEachRow)), total, lastPage, hasMore }
}

function addMember(object: JsonObject, name: string, value: JsonValue | undefined): void {
  if (value === undefined || object.keys.includes(name)) return
  object.keys.push(name)
  object.values.push(value)
}

/** The row with the members that it has not. */
function withMembers(row: JsonValue, { keys, values }: JsonObject): JsonValue {
  if (!(row instanceof JsonObject) || row === oversizedRow) return row
  const whole = new JsonObject()
  whole.keys.push(...row.keys)
  whole.values.push(...row.values)
  for (const [at, name] of keys.entries()) addMember(whole, name, values[at])
  return whole
}

function readItems(name: string, value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new WireError(name, 'it must be an array')
  return value
}

function readCount(name: string, value: JsonValue | undefined, context: DecodeContext): number {
  const text = value instanceof JsonNumber ? value.lexeme : value
  if (typeof value === 'string') context.drift(name, 'numberAsText')
  const count = typeof text === 'string' ? responseScalars.count.fromText(text) : undefined
  if (count === undefined) throw new WireError(name, `it must be ${responseScalars.count.must}`)
  return count
}

interface PageNumbers {
  readonly page: number
  readonly size: number
  readonly total: number
}

export function encodePage(envelope: ClientEnvelope, items: readonly string[], numbers: PageNumbers): string {
  const members = Object.entries(envelope).map(([name, place]) => {
    if (place === 'items') return `${printString(name)}:[${items.join(',')}]`
    if (typeof place === 'string') return `${printString(name)}:${numbers[place]}`
    return `${printString(name)}:${encodePage(place, items, numbers)}`
  })
  return `{${members.join(',')}}`
}
