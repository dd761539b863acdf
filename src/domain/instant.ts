/**
 * Instants as nanoseconds since 1970: timestamps are relayed as text and compared as instants. Clients write RFC 3339 (`toInstant`);
 * providers what ISO 8601, their database or their language has (`instantsOf`).
 */

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

const isoTime =
  /^(\d{4})-?(\d{2})-?(\d{2})[Tt ]([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d{1,9})\d*)?)? ?(Z|z|UTC|GMT|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/
const httpTime = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UT|UTC|Z|[+-]\d{4})$/
const unixTime = /^\d{9,18}$/

/**
 * The instants that a provider's time may mean: one, two for an hour that its zone has twice or never, none if it cannot be read. A time
 * without a zone is in `timezone`, a name of the IANA database. Read are RFC 3339, ISO 8601 (`+0000`, `+00`, basic, without seconds, a
 * space for `T`), counts since 1970, and the format of HTTP (`instant.test.ts`, `test/providers/times.test.ts`).
 */
export function instantsOf(text: string, timezone = 'UTC'): readonly bigint[] {
  if (unixTime.test(text)) return [fromUnixTime(BigInt(text))]
  if (httpTime.test(text)) return inNanoseconds(Date.parse(text.replace(/ (?:UT|Z)$/, ' GMT')))
  const [match, year, month, day, hour, minute, second = '00', fraction = '', zone] = isoTime.exec(text) ?? []
  if (match === undefined || !isDate(`${year}-${month}-${day}`)) return []
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  const readings = zone === undefined ? readingsIn(timezone, local) : [local - offsetOf(zone)]
  return readings.map((reading) => BigInt(reading) * 1_000_000n + BigInt(fraction.padEnd(9, '0')))
}

/** The first of the instants in milliseconds; undefined if there is none. */
export function millisecondsOf(text: string, timezone?: string): number | undefined {
  const [instant] = instantsOf(text, timezone)
  return instant === undefined ? undefined : Number(instant / 1_000_000n)
}

/** The unit follows from the magnitude: seconds, milliseconds or microseconds from 1973 to 5138. */
function fromUnixTime(count: bigint): bigint {
  if (count < 100_000_000_000n) return count * 1_000_000_000n
  return count < 100_000_000_000_000n ? count * 1_000_000n : count * 1_000n
}

function inNanoseconds(milliseconds: number): readonly bigint[] {
  return Number.isNaN(milliseconds) ? [] : [BigInt(milliseconds) * 1_000_000n]
}

const minuteMs = 60_000

/** Milliseconds of `+02`, `+0200`, `+02:00`, `Z`. */
function offsetOf(zone: string): number {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs
}

/** `local`: the clock's figures as if they were UTC. Both offsets of a day on which the clock is changed are tried. */
function readingsIn(timezone: string, local: number): readonly number[] {
  if (timezone === 'UTC') return [local]
  const dayMs = 1_440 * minuteMs
  const offsets = [zoneOffset(timezone, local - dayMs), zoneOffset(timezone, local + dayMs)]
  const readings = [...new Set(offsets.map((offset) => local - offset))]
  const shown = readings.filter((reading) => reading + zoneOffset(timezone, reading) === local)
  return shown.length > 0 ? shown : readings
}

const zoneFormats = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds that the zone is ahead of UTC at this moment. */
function zoneOffset(timezone: string, at: number): number {
  const format = zoneFormats.getOrInsertComputed(
    timezone,
    () => new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' }),
  )
  const [, zone] = /GMT([+-]\d{2}:\d{2})/.exec(format.format(at)) ?? []
  return zone === undefined ? 0 : offsetOf(zone)
}

/** Whether the name is one of the IANA database, or an offset like `+08:00`. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined
  } catch {
    return false
  }
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

/** Milliseconds since 1970 of an RFC 3339 timestamp, or of a plain date (its start in UTC). Undefined for any other text. */
export function toTimestamp(text: string): number | undefined {
  const range = toTimeRange(text)
  return range && Number(range.first / 1_000_000n)
}

export const hourMs = 3_600_000

/** The beginning of the hour, in UTC; both in milliseconds since 1970. */
export function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs
}

/** The timestamp of milliseconds since 1970; null if there are none. */
export function toIso(at: number): string
export function toIso(at: number | null | undefined): string | null
export function toIso(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString()
}

/** False for a day that its month does not have: `Date.parse` would accept it as a day of the next month. */
function isDate(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date)
}
