/** JSON values that keep the digits of their numbers. `parse-json.ts` reads them. */

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
export class JsonError extends Error {}

const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** A string as JSON. */
export function printString(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`
}
