import { toTimeRange } from '../domain/instant.ts'

/** Parses an RFC 3339 timestamp, or a plain date (its start in UTC), to milliseconds since 1970. Undefined if it is neither. */
export function toTimestamp(text: string): number | undefined {
  const range = toTimeRange(text)
  return range && Number(range.first / 1_000_000n)
}

export function toIso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}
