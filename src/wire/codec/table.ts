/** Tables: which wire name carries which domain field, and what stands there when it is not known. */
import type { ScalarFormat } from './scalar-format.ts'

/** What stands where a field is not known: nothing, `null`, or nothing that anybody misses. */
type Absence = 'required' | 'omitted' | 'null' | 'extension'

export interface TableColumn<Field extends string = string> {
  readonly field: Field
  readonly absence: Absence
  /** In an answer: the field may be absent only where this holds. */
  readonly when?: (response: Readonly<Record<string, unknown>>) => boolean
  /** In an answer: an empty text is a value, not the absence of one. */
  readonly mayBeEmpty?: true
  /** In a question: what is meant where nothing is said. Towards a provider it is always said. */
  readonly defaultValue?: string | number
  /** How the value is written, if not in the standard notation of its field. */
  readonly format?: ScalarFormat
  /** In an answer: an amount of 0 means that there is none. */
  readonly isZeroNone?: true
  /** In an answer: it is used only where no other line of the table has the field. */
  readonly isFallback?: true
  /** In an answer: this amount is subtracted from that field, exactly. */
  readonly deductedFrom?: string
  /** In a question: an empty text stands where there is none. */
  readonly isEmptyIfNone?: true
}

/** A bare field name is always on the wire. */
export type Table<Field extends string = string> = Readonly<Record<string, Field | TableColumn<Field>>>

/** A table with objects in it, for the answers and questions of real APIs. */
export interface ResponseTree<Field extends string = string> {
  readonly [name: string]: ResponseLine<Field>
}
export interface RequestTree<Field extends string = string> {
  readonly [name: string]: RequestLine<Field>
}
export type ResponseLine<Field extends string = string> =
  | Field
  | TableColumn<Field>
  | Unused
  | Inside<ResponseTree<Field>>
  | First<ResponseTree<Field>>
  | Each<ResponseTree<Field>>
export type RequestLine<Field extends string = string> =
  | Field
  | TableColumn<Field>
  | Constant
  | Setting
  | Inside<RequestTree<Field>>

/** An object in the place of a value. */
export interface Inside<Tree> {
  readonly inside: Tree
}
/** In an answer: a list of which the first item counts. */
export interface First<Tree> {
  readonly first: Tree
}
/** In a row of an answer: a list, each item of which is a row of its own with what stands beside the list. */
export interface Each<Tree> {
  readonly each: Tree
  /** The items are texts: each is the value of the only line, whose name is empty. */
  readonly isText?: true
  /** In an answer that is written: the field that holds the items; where it is not known there is no list. */
  readonly of?: string
}
/** A known name of no use: drift means drift in an answer that is read; told as omitted in one that is written. */
export interface Unused {
  readonly unused: true
}
/** In a question: always the same. */
export interface Constant {
  readonly always: string | number | boolean
}
/** In a question: what only the operator knows (`providers.<name>.settings`). */
export interface Setting {
  readonly setting: string
}

export type Method = 'GET' | 'POST'

/** Of one operation. */
export interface OperationTables {
  readonly at: `${Method} ${string}`
  readonly success: number
  readonly request: Table
  readonly response: ResponseTree
}

/** May be absent or null; left out where it is not known. */
export function optional<const Field extends string>(field: Field, when?: NonNullable<TableColumn['when']>): TableColumn<Field> {
  return { field, absence: 'omitted', ...(when && { when }) }
}

/** The same for a text that may be empty. */
export function optionalText<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'omitted', mayBeEmpty: true }
}

/** May be absent or null; null where it is not known. */
export function orNull<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'null' }
}

/** A field that the form itself does not have, carried end to end; null and `""` mean none. */
export function extension<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'extension' }
}

/** In a question: `standard` where nothing is said. */
export function withDefault<const Field extends string>(field: Field, defaultValue: string | number): TableColumn<Field> {
  return { field, absence: 'required', defaultValue }
}

export function toColumn(column: string | TableColumn): TableColumn {
  return typeof column === 'string' ? { field: column, absence: 'required' } : column
}

export function fieldsOf(tree: ResponseTree | RequestTree): ReadonlySet<string> {
  return new Set(columnsOf(tree).map(({ field }) => field))
}

/** All columns at any depth. */
export function columnsOf(tree: ResponseTree | RequestTree): readonly TableColumn[] {
  return Object.values(tree).flatMap((line): readonly TableColumn[] => {
    if (typeof line === 'string' || 'field' in line) return [toColumn(line)]
    const below = treeBelow(line)
    return below ? columnsOf(below) : []
  })
}

function treeBelow(line: Exclude<ResponseLine | RequestLine, string | TableColumn>): ResponseTree | RequestTree | undefined {
  if ('inside' in line) return line.inside
  if ('first' in line) return line.first
  return 'each' in line ? line.each : undefined
}
