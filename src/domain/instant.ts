/** Instants as nanoseconds since 1970: timestamps are relayed as text and compared as instants. */

const timestamp =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const plainDate = /^\d{4}-\d{2}-\d{2}$/
const nanosecondsPerDay = 86_400_000_000_000n

/** Parses an RFC 3339 timestamp with a zone. Undefined for any other text. */
export function toInstant(text: string): bigint | undefined {
  const match = timestamp.exec(text)
  if (!match) return undefined
  const [, date = '', time = '', fraction = '', zone = ''] = match
  if (!isDate(date)) return undefined
  const seconds = Date.parse(`${date}T${time}${zone.toUpperCase()}`)
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}

export interface TimeRange {
  readonly first: bigint
  readonly last: bigint
}

/** The range of a date bound: one instant, or the whole UTC day of a plain date. Undefined for any other text. */
export function toTimeRange(text: string): TimeRange | undefined {
  if (!plainDate.test(text)) {
    const instant = toInstant(text)
    return instant === undefined ? undefined : { first: instant, last: instant }
  }
  if (!isDate(text)) return undefined
  const first = BigInt(Date.parse(`${text}T00:00:00Z`)) * 1_000_000n
  return { first, last: first + nanosecondsPerDay - 1n }
}

/** False for a day that its month does not have: `Date.parse` would accept it as a day of the next month. */
function isDate(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date)
}
