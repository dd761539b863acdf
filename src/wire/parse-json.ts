/**
 * JSON that keeps what `JSON.parse` throws away: the digits of a number and the second of two equal keys.
 * RFC 8259, strictly: no byte order mark, no lone surrogate, no number outside its grammar. Written here because the
 * codecs need source digits at near-native speed: a reviver costs ten times as much (`npm run bench:codec`).
 */
import { JsonError, JsonNumber, JsonObject, type JsonValue } from './json.ts'

const maxDepth = 32
/** No form has objects with more members. The limit keeps the search for duplicates short. */
const maxMembers = 256
/** No response has more values. At the maximum size of a response, parsing more would take seconds. */
const maxValues = 200_000
/** From this many members, a set finds duplicates faster than a search. */
const manyMembers = 32
const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const plainText = /[^"\\\u0000-\u001f]*/y
const quote = 0x22
const backslash = 0x5c

/** Reads one JSON document. Throws `JsonError`. */
export function parseJson(text: string): JsonValue {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

/** Characters that keep a string from being a plain slice of the text. */
const unplain = /[\\\u0000-\u001f\ud800-\udfff]/

class Reader {
  private readonly text: string
  private readonly isPlain: boolean
  private at = 0
  private valueCount = 0

  constructor(text: string) {
    this.text = text
    this.isPlain = !unplain.test(text)
  }

  end(): void {
    this.space()
    if (this.at < this.text.length) this.fail()
  }

  value(depth: number): JsonValue {
    if (++this.valueCount > maxValues) throw new JsonError(`more than ${maxValues} values`)
    this.space()
    const code = this.text.charCodeAt(this.at)
    if (code === quote) return this.string()
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.number()
    if (code === 0x7b) return this.object(depth + 1)
    if (code === 0x5b) return this.array(depth + 1)
    return this.word()
  }

  private object(depth: number): JsonObject {
    const object = new JsonObject()
    const { keys, values } = object
    let names: Set<string> | undefined
    if (this.opens(depth, 0x7d)) return object
    for (;;) {
      this.space()
      if (this.text.charCodeAt(this.at) !== quote) this.fail()
      const key = this.string()
      if (names ? names.has(key) : keys.includes(key)) throw new JsonError(`duplicate key at position ${this.at}`)
      if (keys.length === maxMembers) throw new JsonError(`more than ${maxMembers} members`)
      this.space()
      if (this.text.charCodeAt(this.at++) !== 0x3a) this.fail()
      keys.push(key)
      if (keys.length === manyMembers) names = new Set(keys)
      else names?.add(key)
      values.push(this.value(depth))
      if (this.closes(0x7d)) return object
    }
  }

  private array(depth: number): JsonValue[] {
    const array: JsonValue[] = []
    if (this.opens(depth, 0x5d)) return array
    for (;;) {
      array.push(this.value(depth))
      if (this.closes(0x5d)) return array
    }
  }

  /** Steps over the opening bracket; true if the closing one follows at once. */
  private opens(depth: number, closing: number): boolean {
    if (depth > maxDepth) throw new JsonError(`deeper than ${maxDepth} levels`)
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
    if (!this.isPlain) return this.escapedString()
    const start = this.at + 1
    const end = this.text.indexOf('"', start)
    if (end < 0) this.fail()
    this.at = end + 1
    return this.text.slice(start, end)
  }

  private escapedString(): string {
    const start = ++this.at
    plainText.lastIndex = start
    plainText.test(this.text)
    this.at = plainText.lastIndex
    if (this.text.charCodeAt(this.at) === quote) return this.wellFormed(this.text.slice(start, this.at++))
    while (this.text.charCodeAt(this.at) === backslash) {
      plainText.lastIndex = this.at + 2
      plainText.test(this.text)
      this.at = plainText.lastIndex
    }
    if (this.text.charCodeAt(this.at) !== quote) this.fail()
    return this.wellFormed(this.unescape(this.text.slice(start - 1, ++this.at)))
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
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return
      this.at++
    }
  }

  private fail(): never {
    throw new JsonError(`not JSON at position ${this.at}`)
  }
}
