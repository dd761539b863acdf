/** The envelope of a page, in both directions. */
import type { Reading } from './answer.ts'
import { JsonNumber, JsonObject, type JsonValue, printString } from './json.ts'
import { answered } from './notation.ts'
import { WireProblem } from './problem.ts'

/** Where a page's rows and figures stand: a name, or a name inside an object. */
export interface Envelope {
  readonly [name: string]: 'items' | 'page' | 'size' | 'total' | Envelope
}

export interface DecodedPage {
  readonly items: readonly JsonValue[]
  readonly total: number
}

export function decodePage(envelope: Envelope, value: JsonValue, reading: Reading): DecodedPage {
  const page: { items?: readonly JsonValue[]; total?: number } = {}
  const walk = (names: Envelope, object: JsonValue | undefined): void => {
    if (!(object instanceof JsonObject)) throw new WireProblem('', 'it must be an object')
    for (const [name, place] of Object.entries(names)) {
      const member = object.get(name)
      if (place === 'items') page.items = readItems(name, member)
      else if (typeof place !== 'string') walk(place, member)
      else {
        const count = readCount(name, member, reading)
        if (place === 'total') page.total = count
      }
    }
    if (object.keys.some((name) => !Object.hasOwn(names, name))) reading.drift('_other', 'unknownField')
  }
  walk(envelope, value)
  return { items: page.items ?? [], total: page.total ?? 0 }
}

function readItems(name: string, value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new WireProblem(name, 'it must be an array')
  return value
}

function readCount(name: string, value: JsonValue | undefined, reading: Reading): number {
  const text = value instanceof JsonNumber ? value.lexeme : value
  if (typeof value === 'string') reading.drift(name, 'numberAsText')
  const count = typeof text === 'string' ? answered.count.fromText(text) : undefined
  if (count === undefined) throw new WireProblem(name, `it must be ${answered.count.must}`)
  return count
}

export interface PageFigures {
  readonly page: number
  readonly size: number
  readonly total: number
}

export function encodePage(envelope: Envelope, items: readonly string[], figures: PageFigures): string {
  const members = Object.entries(envelope).map(([name, place]) => {
    if (place === 'items') return `${printString(name)}:[${items.join(',')}]`
    if (typeof place === 'string') return `${printString(name)}:${figures[place]}`
    return `${printString(name)}:${encodePage(place, items, figures)}`
  })
  return `{${members.join(',')}}`
}
