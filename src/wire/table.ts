/** Tables: which wire name carries which domain field, and what stands there when it is not known. */

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
}

/** A bare field name is always on the wire. */
export type Table<Field extends string = string> = Readonly<Record<string, Field | TableColumn<Field>>>

export type Method = 'GET' | 'POST'

/** Of one operation. */
export interface OperationTables {
  readonly at: `${Method} ${string}`
  readonly success: number
  readonly request: Table
  readonly response: Table
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

export function fieldsOf(table: Table): ReadonlySet<string> {
  return new Set(Object.values(table).map((column) => toColumn(column).field))
}
