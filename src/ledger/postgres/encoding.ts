/** Texts for a database that is not in UTF-8: what its encoding lacks becomes an escape of JSON, as most columns are, so that a swap is always stored. */

/** Of every other encoding but these, ASCII alone is taken for granted. `SQL_ASCII` takes every byte. */
const lacking: Readonly<Record<string, RegExp | undefined>> = { UTF8: undefined, SQL_ASCII: undefined, LATIN1: /[^\0-\xff]/g }
const notAscii = /[^\0-\x7f]/g

export class DatabaseEncoding {
  private readonly lacks: RegExp | undefined

  /** `name`: PostgreSQL's `server_encoding`. */
  constructor(name: string) {
    this.lacks = Object.hasOwn(lacking, name) ? lacking[name] : notAscii
  }

  /** A parameter of a statement: texts, alone or in a list. */
  parameter(value: unknown): unknown {
    if (!this.lacks) return value
    if (typeof value === 'string') return this.escape(value, '\\u')
    return Array.isArray(value) ? value.map((each) => this.parameter(each)) : value
  }

  /** JSON of rows, whose fields are stored as texts: they get the escapes. */
  rows(json: string): string {
    return this.lacks ? this.escape(json, '\\\\u') : json
  }

  private escape(text: string, prefix: string): string {
    return text.replace(this.lacks ?? notAscii, (unit) => prefix + unit.charCodeAt(0).toString(16).padStart(4, '0'))
  }
}
