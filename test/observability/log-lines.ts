/** The lines of a log, each of which must be one of JSON. */

export type LogLine = Readonly<Record<string, unknown>>

/** All fields of a request; others are never written. */
export const requestFields: ReadonlySet<string> = new Set([
  'level',
  'time',
  'event',
  'request_id',
  'trace_id',
  'caller',
  'account',
  'key_id',
  'address',
  'intent',
  'operation',
  'method',
  'route',
  'status',
  'error_type',
  'reason',
  'client_form',
  'provider_form',
  'provider',
  'seconds',
  'provider_seconds',
  'added_seconds',
  'error',
])

/** Throws where a line is not JSON. What the process prints at its start stands on standard output, and is left out. */
export function logLines(printed: string): readonly LogLine[] {
  const lines = printed
    .split('\n')
    .filter((line) => line !== '' && !/^(?:swapgate |warning: |The operator's page|Then in it: )/.test(line))
  return lines.map((line) => JSON.parse(line) as LogLine)
}

export function requestLines(printed: string): readonly LogLine[] {
  return logLines(printed).filter(({ event }) => event === 'request')
}
