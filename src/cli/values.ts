import { InvalidArgumentError } from 'commander'
import { packagedConfigFile } from '../config/index.ts'
import { toTimeRange } from '../domain/instant.ts'
import { printable } from '../domain/printable.ts'

/** A line for each row, its cells one below the other. Whatever a cell has, it is one line. */
export function formatTable(cells: readonly (readonly string[])[]): readonly string[] {
  const rows = cells.map((row) => row.map(printable))
  const widths = rows.reduce<number[]>((widest, row) => row.map((cell, at) => Math.max(widest[at] ?? 0, [...cell].length)), [])
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  )
}

/** Parses an RFC 3339 timestamp, or a plain date (its start in UTC), to milliseconds since 1970. Undefined if it is neither. */
export function toTimestamp(text: string): number | undefined {
  const range = toTimeRange(text)
  return range && Number(range.first / 1_000_000n)
}

export function toIso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

// commander: options that several commands share.

export interface Options {
  readonly config?: string
  readonly json?: boolean
}

export const configOption = ['--config <file>', 'configuration file (default: $SWAPGATE_CONFIG or config/gateway.yaml)'] as const
export const durations = 'like 30m, 24h or 90d, or a number of seconds'
export const jsonOption = ['--json', 'print one JSON document'] as const

/** Warns if the packaged configuration is used because the user has none. */
export function fileWarnings(file: string): readonly string[] {
  return file === packagedConfigFile ? [`there is no config/gateway.yaml here: using the packaged configuration, ${file}`] : []
}

/** Makes a parser of an option's value. If `parse` returns undefined, the usage is wrong (exit code 2). */
export function parsedBy<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${what}.`)
    return value
  }
}

const pattern = /^(\d{1,10})([smhd]?)$/
const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 }
const maxSeconds = 36_500 * 86_400

/** Parses `30m`, `24h`, `90d` or a number of seconds, up to 100 years, to milliseconds. Undefined if it is none of these. */
export function toDuration(text: string): number | undefined {
  const [, count, unit = ''] = pattern.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  return seconds <= maxSeconds ? seconds * 1_000 : undefined
}

/** A share of 1 in percent, with its sign; `-` where it is not known. */
export function formatPercent(share: number | null): string {
  if (share === null) return '-'
  const percent = (share * 100).toFixed(3)
  return `${Number(percent) > 0 ? '+' : ''}${percent} %`
}
