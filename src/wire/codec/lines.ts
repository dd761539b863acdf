/** The lines of a table that real APIs need beside plain columns. Each wraps a field, or a line of its own. */

import { asText, inLowerCase, inWords, inZone, type UnixUnit, unixTime, type Words } from './scalar-format.ts'
import type { Constant, Each, First, Inside, PerItem, RequestTree, ResponseTree, Setting, TableColumn, Unused } from './table.ts'

type Line<Field extends string> = Field | TableColumn<Field>

function column<Field extends string>(line: Line<Field>): TableColumn<Field> {
  return typeof line === 'string' ? { field: line, absence: 'required' } : line
}

/** An object in the place of a value. */
export function inside<const Tree extends ResponseTree | RequestTree>(tree: Tree): Inside<Tree> {
  return { inside: tree }
}

/** A list whose first item is used. An empty list is an error. */
export function first<const Tree extends ResponseTree>(tree: Tree): First<Tree> {
  return { first: tree }
}

/** A list in a row: each item becomes a row, with the fields beside the list. Items that are texts are values of a field. */
export function each<const Tree extends ResponseTree>(items: Tree): Each<Tree>
export function each<const Field extends string>(items: Field): Each<{ readonly '': Field }>
export function each(items: ResponseTree | string): Each<ResponseTree> {
  return typeof items === 'string' ? { each: { '': items }, isText: true } : { each: items }
}

/** Beside a list of texts: an object whose members belong to its items, by name. */
export function perItem<const Tree extends ResponseTree>(tree: Tree): PerItem<Tree> {
  return { perItem: tree }
}

/** A list in a response to a client: the items of this field. */
export function listOf<const Tree extends ResponseTree>(field: 'networks', tree: Tree): Each<Tree> {
  return { each: tree, of: field }
}

/** A known name without a field: no drift when read, reported as omitted when written. */
export const unused: Unused = { unused: true }

/** Several of them: `...unusedNames('comment', 'email')`. */
export function unusedNames<const Name extends string>(...names: readonly Name[]): Readonly<Record<Name, Unused>> {
  return Object.fromEntries(names.map((name) => [name, unused])) as Record<Name, Unused>
}

/** Always the same in a request. */
export function always(value: Constant['always']): Constant {
  return { always: value }
}

/** A value from the configuration: `providers.<name>.settings.<name>`. A missing one is a configuration error. */
export function setting(name: string): Setting {
  return { setting: name }
}

/** A number that is written as text. */
export function text<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...column(line), format: asText }
}

/** The provider's words for a value. If there are several, the first is written. */
export function words<const Field extends string>(line: Line<Field>, meanings: Words): TableColumn<Field> {
  return { ...column(line), format: inWords(meanings) }
}

/** Written in lower case, read in any. */
export function lowerCase<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...column(line), format: inLowerCase }
}

/** A count since 1970, in seconds by default (`unit`). In a response the unit follows from its magnitude. */
export function unix<const Field extends string>(line: Line<Field>, unit: UnixUnit = 's'): TableColumn<Field> {
  const known = column(line)
  return { ...known, format: unixTime(unit, known.field === 'dateTo' ? 'last' : 'first') }
}

/** A timestamp without zone, in this zone. */
export function zoned<const Field extends string>(line: Line<Field>, zone: Parameters<typeof inZone>[0]): TableColumn<Field> {
  return { ...column(line), format: inZone(zone) }
}

/** An amount of 0, or an empty text, means that there is none. */
export function zeroIsNone<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...column(line), absence: 'omitted', isZeroNone: true }
}

/** Used only where no other line of the table has the field. */
export function fallback<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...column(line), isFallback: true }
}

/** An amount that is subtracted from the amount received, exactly. The difference is reported as derived. */
export const deduction: TableColumn<'deduction'> = { field: 'deduction', absence: 'omitted', deductedFrom: 'amountOut' }

/** An optional memo or tag that must be sent as an empty text if there is none. */
export function emptyIfNone<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...column(line), absence: 'extension', isEmptyIfNone: true }
}
