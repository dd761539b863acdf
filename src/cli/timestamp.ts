import { toTimeRange } from '../domain/instant.ts'

/** Milliseconds since 1970 of an RFC 3339 timestamp or of the first moment of a plain date in UTC; undefined where it is neither. */
export function toTimestamp(text: string): number | undefined {
  const range = toTimeRange(text)
  return range && Number(range.first / 1_000_000n)
}

export function toIso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}
