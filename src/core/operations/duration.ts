/** Durations and points in time as a person writes them. */
import { toTimestamp } from '../../domain/instant.ts'

export const durations = 'like 30m, 24h or 90d, or a number of seconds'

const pattern = /^(\d{1,10})([smhd]?)$/
const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 }
const maxSeconds = 36_500 * 86_400

/** Parses `30m`, `24h`, `90d` or a number of seconds, up to 100 years, to milliseconds. Undefined if it is none of these. */
export function toDuration(text: string): number | undefined {
  const [, count, unit = ''] = pattern.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  return seconds <= maxSeconds ? seconds * 1_000 : undefined
}

/** Milliseconds since 1970 of a date, of a time, or of a duration back from now. Undefined if it is none of these. */
export function toSince(text: string): number | undefined {
  const duration = toDuration(text)
  return toTimestamp(text) ?? (duration === undefined ? undefined : Date.now() - duration)
}
