/** The envelope of a page, in both directions. */
import { JsonNumber, JsonObject, type JsonValue, printString } from './json.ts'
import type { DecodeContext } from './response-nodes.ts'
import { responseScalars } from './scalar.ts'
import { WireError } from './wire-error.ts'

/** Where a page's rows and figures are: a name, or a name inside an object. */
export interface ClientEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | ClientEnvelope
}

/** A provider's page may also have the number of its last page, and names of no use. */
export interface ProviderEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | 'lastPage' | 'unused' | ProviderEnvelope
}

export interface DecodedPage {
  readonly items: readonly JsonValue[]
  /** Undefined where the provider gives no total. */
  readonly total: number | undefined
  readonly lastPage: number | undefined
}

export function decodePage(envelope: ProviderEnvelope | 'items', value: JsonValue, context: DecodeContext): DecodedPage {
  if (envelope === 'items') return { items: readItems('', value), total: undefined, lastPage: undefined }
  const page: { items?: readonly JsonValue[]; total?: number; lastPage?: number } = {}
  let nullName: string | undefined
  const walk = (names: ProviderEnvelope, object: JsonValue | undefined): void => {
    if (!(object instanceof JsonObject)) throw new WireError('', 'it must be an object')
    for (const [name, place] of Object.entries(names)) {
      const member = object.get(name)
      if (place === 'items' && member === null) nullName = name
      else if (place === 'items') page.items = readItems(name, member)
      else if (typeof place !== 'string') walk(place, member)
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
  return { items: page.items ?? [], total: page.total, lastPage: page.lastPage }
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
