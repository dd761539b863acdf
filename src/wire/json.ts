/** JSON values that keep the digits of their numbers. `parseJson` reads them. */
import { runInSlices } from '../domain/async.ts'

/** A number as it was written, for example `1.10` or `1e-8`. */
export class JsonNumber {
  readonly lexeme: string
  constructor(lexeme: string) {
    this.lexeme = lexeme
  }
}

/** The members of an object, in their order, without duplicate keys. Two lists, so that `__proto__` is only a name. */
export class JsonObject {
  readonly keys: string[] = []
  readonly values: JsonValue[] = []

  get(key: string): JsonValue | undefined {
    const at = this.keys.indexOf(key)
    return at < 0 ? undefined : this.values[at]
  }
}

export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject

/** In the place of a row that is too long to be read. */
export const oversizedRow = new JsonObject()

/** The text is not JSON, or nested too deeply. The message has the position, never the text. */
export class JsonError extends Error {
  readonly failureCause: 'not_json' | 'too_large'

  constructor(message: string, failureCause: JsonError['failureCause'] = 'not_json') {
    super(message)
    this.failureCause = failureCause
  }
}

const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** A string as JSON. */
export function printString(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`
}

// JSON that keeps what `JSON.parse` throws away: the digits of a number and the second of two equal keys.
// RFC 8259, strictly: no byte order mark, no lone surrogate, no number outside its grammar. Written here because the
// codecs need source digits at near-native speed: a reviver costs ten times as much (`npm run bench:codec`).

const maxDepth = 32
/** No form has objects with more members. The limit keeps the search for duplicates short. */
const maxMembers = 256
/** No response has more values: it is not of its form (`json.test.ts`). At the maximum size of a response, parsing more would take seconds. */
const maxValues = 200_000
/** From this many members, a set finds duplicates faster than a search. */
const manyMembers = 32
/** Characters. Far more than any row of a provider has: a longer one is not read (`json.test.ts`). */
const maxRowLength = 65_536
/** Brackets and strings between two looks at the clock. */
const skipsPerStep = 4_096
const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const spaces = /[ \t\n\r]*/y
const structure = /["[\]{}]/g
const quote = 0x22
const backslash = 0x5c

/** Reads one JSON document. Throws `JsonError`. */
export function parseJson(text: string): JsonValue {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

/**
 * The same for a list of any length, with an envelope or without: does not block the event loop. A row of more than 64 KiB is not
 * read, but stepped over: `oversizedRow` is in its place.
 */
export async function parseJsonList(text: string): Promise<JsonValue> {
  if (text.length <= maxRowLength) return parseJson(text)
  const reader = new Reader(text)
  const value = await runInSlices(reader.list(0))
  reader.end()
  return value
}

/** Thrown in a row that is too long. */
const oversized = new JsonError(`a row of more than ${maxRowLength} characters`, 'too_large')

/** Characters that keep a string from being a plain slice of the text. */
const unplain = /[\\\u0000-\u001f\ud800-\udfff]/

class Reader {
  private readonly text: string
  private readonly isPlain: boolean
  private at = 0
  private valueCount = 0
  /** No value of the row that is being read begins, and no text ends, behind it. */
  private rowEnd = Number.POSITIVE_INFINITY

  constructor(text: string) {
    this.text = text
    this.isPlain = !unplain.test(text)
  }

  end(): void {
    this.space()
    if (this.at < this.text.length) this.fail()
  }

  value(depth: number): JsonValue {
    if (++this.valueCount > maxValues) throw new JsonError(`more than ${maxValues} values`, 'too_large')
    this.space()
    if (this.at > this.rowEnd) throw oversized
    const code = this.text.charCodeAt(this.at)
    if (code === quote) return this.string()
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.number()
    if (code === 0x7b) return this.object(depth + 1)
    if (code === 0x5b) return this.array(depth + 1)
    return this.word()
  }

  /** The value, where its lists are in its envelope. Yields after each row. */
  *list(depth: number): Generator<void, JsonValue> {
    yield
    this.space()
    const code = this.text.charCodeAt(this.at)
    if (code === 0x5b) return yield* this.rows(depth + 1)
    if (code !== 0x7b) return this.value(depth)
    const object = new JsonObject()
    if (this.opens(depth + 1, 0x7d)) return object
    let names: Set<string> | undefined
    do {
      names = this.key(object.keys, names)
      object.values.push(yield* this.list(depth + 1))
    } while (!this.closes(0x7d))
    return object
  }

  private *rows(depth: number): Generator<void, JsonValue[]> {
    const rows: JsonValue[] = []
    if (this.opens(depth, 0x5d)) return rows
    do {
      rows.push(yield* this.row(depth))
      yield
    } while (!this.closes(0x5d))
    return rows
  }

  private *row(depth: number): Generator<void, JsonValue> {
    this.space()
    const { at, valueCount } = this
    this.rowEnd = at + maxRowLength
    try {
      const row = this.value(depth)
      return this.at <= this.rowEnd ? row : oversizedRow
    } catch (reason) {
      if (reason !== oversized) throw reason
    } finally {
      this.rowEnd = Number.POSITIVE_INFINITY
    }
    this.at = at
    this.valueCount = valueCount + 1
    yield* this.skip()
    return oversizedRow
  }

  /** Steps over a value. What is in it need not be JSON. */
  private *skip(): Generator<void, void> {
    let open = 0
    let skips = 0
    do {
      structure.lastIndex = this.at
      const code = structure.exec(this.text)?.[0]
      if (code === undefined) this.fail()
      this.at = structure.lastIndex
      if (code === '"') this.toStringEnd(this.at)
      else open += code === '[' || code === '{' ? 1 : -1
      if (++skips % skipsPerStep === 0) yield
    } while (open > 0)
  }

  private object(depth: number): JsonObject {
    const object = new JsonObject()
    if (this.opens(depth, 0x7d)) return object
    let names: Set<string> | undefined
    do {
      names = this.key(object.keys, names)
      object.values.push(this.value(depth))
    } while (!this.closes(0x7d))
    return object
  }

  /** Reads a name and its colon. Returns the names as a set where they are many. */
  private key(keys: string[], names: Set<string> | undefined): Set<string> | undefined {
    this.space()
    if (this.text.charCodeAt(this.at) !== quote) this.fail()
    const key = this.string()
    if (names ? names.has(key) : keys.includes(key)) throw new JsonError(`duplicate key at position ${this.at}`)
    if (keys.length === maxMembers) throw new JsonError(`more than ${maxMembers} members`, 'too_large')
    this.space()
    if (this.text.charCodeAt(this.at++) !== 0x3a) this.fail()
    keys.push(key)
    return keys.length === manyMembers ? new Set(keys) : names?.add(key)
  }

  private array(depth: number): JsonValue[] {
    const array: JsonValue[] = []
    if (this.opens(depth, 0x5d)) return array
    do array.push(this.value(depth))
    while (!this.closes(0x5d))
    return array
  }

  /** Steps over the opening bracket; true if the closing one follows at once. */
  private opens(depth: number, closing: number): boolean {
    if (depth > maxDepth) throw new JsonError(`deeper than ${maxDepth} levels`, 'too_large')
    this.at++
    this.space()
    if (this.text.charCodeAt(this.at) !== closing) return false
    this.at++
    return true
  }

  /** Steps over a comma (false) or the closing bracket (true). */
  private closes(closing: number): boolean {
    this.space()
    const code = this.text.charCodeAt(this.at++)
    if (code === closing) return true
    if (code !== 0x2c) this.fail()
    return false
  }

  private string(): string {
    const start = this.at + 1
    if (this.isPlain) {
      const end = this.text.indexOf('"', start)
      if (end < 0) this.fail()
      this.at = end + 1
      return this.text.slice(start, end)
    }
    this.toStringEnd(start)
    const text = this.text.slice(start, this.at - 1)
    return unplain.test(text) ? this.wellFormed(this.unescape(this.text.slice(start - 1, this.at))) : text
  }

  /** Steps behind the string whose first character is here. */
  private toStringEnd(start: number): void {
    let end = this.text.indexOf('"', start)
    if (end > start && this.text.charCodeAt(end - 1) === backslash) end = this.unescapedQuote(start)
    if (end < 0) this.fail()
    if (end > this.rowEnd) throw oversized
    this.at = end + 1
  }

  /** Stops at the end of the row. */
  private unescapedQuote(start: number): number {
    const { text } = this
    const last = Math.min(text.length - 1, this.rowEnd + 1)
    for (let at = start; at <= last; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) return at
      if (code === backslash) at++
    }
    return last < text.length - 1 ? last : -1
  }

  private unescape(source: string): string {
    try {
      return JSON.parse(source)
    } catch {
      return this.fail()
    }
  }

  private wellFormed(text: string): string {
    return text.isWellFormed() ? text : this.fail()
  }

  private number(): JsonNumber {
    numberPattern.lastIndex = this.at
    if (!numberPattern.test(this.text)) this.fail()
    const lexeme = this.text.slice(this.at, numberPattern.lastIndex)
    this.at = numberPattern.lastIndex
    return new JsonNumber(lexeme)
  }

  private word(): null | boolean {
    if (this.text.startsWith('null', this.at)) return this.step(4, null)
    if (this.text.startsWith('true', this.at)) return this.step(4, true)
    if (this.text.startsWith('false', this.at)) return this.step(5, false)
    return this.fail()
  }

  private step<T>(length: number, value: T): T {
    this.at += length
    return value
  }

  private space(): void {
    const code = this.text.charCodeAt(this.at)
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return
    spaces.lastIndex = this.at
    spaces.test(this.text)
    this.at = spaces.lastIndex
  }

  private fail(): never {
    throw new JsonError(`not JSON at position ${this.at}`)
  }
}
