/** Whole seconds from an HTTP date or a number of seconds (RFC 9110 §10.2.3), at least 1; undefined if it is neither. */
export function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Math.max(1, Number(value))
  const seconds = Math.ceil((Date.parse(value) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(1, seconds)
}
