/** More would stop a provider, or its clients, for longer than anybody can mean. */
const maxSeconds = 3_600

/** Between the values of repeated headers; not in a date. */
const separator = /,(?!\s*\d{1,2}[ -][A-Za-z])/

/**
 * Whole seconds, from 1 to an hour, from HTTP dates and numbers of seconds (RFC 9110 §10.2.3), also with fractions: the longest of
 * them. Undefined if there is none.
 */
export function readRetryAfter(value: string | readonly string[] | undefined): number | undefined {
  const given = [value ?? []].flat().flatMap((text) => text.split(separator))
  const seconds = given.map((text) => toSeconds(text.trim())).filter((number) => !Number.isNaN(number))
  return seconds.length === 0 ? undefined : Math.min(Math.max(1, ...seconds.map(Math.ceil)), maxSeconds)
}

function toSeconds(text: string): number {
  return /^\d+(?:\.\d*)?$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
}
