/** JSON documents compared as text: every digit, escape and member counts, their order and the white space do not. */
import { equal } from 'node:assert/strict'

interface Source {
  readonly source: string
}

/** Only the text has the digits of a number, and `JSON.rawJSON` writes them again; TypeScript lacks both. */
const exact = JSON as unknown as {
  parse: (text: string, revive: (name: string, value: unknown, source: Source) => unknown) => unknown
  rawJSON: (lexeme: string) => object
}

/**
 * Throws if the documents differ. The order of members is not compared, for no form has one (`docs/service.md` lists fields)
 * and JSON has none (RFC 8259 §4); digits are, since a gateway must not change `1.10` into `1.1`.
 */
export function sameDocument(actual: string, expected: string): void {
  equal(sorted(actual), sorted(expected))
  equal(dense(actual).length, dense(expected).length, 'a name that comes twice')
}

function sorted(text: string): string {
  return JSON.stringify(
    exact.parse(text, (_, value, { source }) => {
      if (typeof value === 'number') return exact.rawJSON(source)
      if (value === null || typeof value !== 'object' || Array.isArray(value) || Object.hasOwn(value, 'rawJSON')) return value
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    }),
    undefined,
    1,
  )
}

/** Without white space outside of strings. */
function dense(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : ''))
}
