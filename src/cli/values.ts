import { InvalidArgumentError } from 'commander'
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

// commander: options that several commands share.

export interface Options {
  readonly config?: string
  readonly json?: boolean
}

export const configOption = ['--config <file>', 'configuration file (default: $SWAPGATE_CONFIG or config/gateway.yaml)'] as const
export const jsonOption = ['--json', 'print one JSON document'] as const

const toNames = (text: string): readonly string[] | undefined => (/^\w+(?:,\w+)*$/.test(text) ? text.split(',') : undefined)

/** What a person has judged: `commander` makes it `despite`. */
export const despiteOption = [
  '--despite <names>',
  'although it differs in these, as a refusal names them: like amountOut,withdrawalAddress',
  listParsedBy(toNames, 'names with commas between them'),
] as const

/** Makes a parser of an option's value. If `parse` returns undefined, the usage is wrong (exit code 2). */
export function parsedBy<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${what}.`)
    return value
  }
}

/** The same for a list with commas between its items. What a repeated option has is added. */
export function listParsedBy(
  parse: (text: string) => readonly string[] | undefined,
  what: string,
): (text: string, before?: readonly string[]) => readonly string[] {
  const parsed = parsedBy(parse, what)
  return (text, before = []) => {
    const items = parsed(text)
    return before.length === 0 ? items : parsed([...before, ...items].join(','))
  }
}

/** A share of 1 in percent, with its sign; `-` where it is not known. */
export function formatPercent(share: number | null): string {
  if (share === null) return '-'
  const percent = (share * 100).toFixed(3)
  const sign = Number(percent) > 0 ? '+' : Number(percent) < 0 ? '-' : ''
  return `${sign}${percent.replace('-', '')} %`
}
