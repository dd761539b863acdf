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
