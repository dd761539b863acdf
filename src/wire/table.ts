/** Tables: which wire name carries which domain field, and what stands there when it is not known. */

/** What stands where a field is not known: nothing, `null`, or nothing that anybody misses. */
type Absence = 'required' | 'omitted' | 'null' | 'extension'

export interface Entry<Field extends string = string> {
  readonly field: Field
  readonly absence: Absence
  /** In an answer: the field may be absent only where this holds. */
  readonly when?: (answer: Readonly<Record<string, unknown>>) => boolean
  /** In an answer: an empty text is a value, not the absence of one. */
  readonly mayBeEmpty?: true
  /** In a question: what is meant where nothing is said. Towards a provider it is always said. */
  readonly standard?: string | number
}

/** A bare field name is always on the wire. */
export type Table<Field extends string = string> = Readonly<Record<string, Field | Entry<Field>>>

/** May be absent or null; left out where it is not known. */
export function optional<const Field extends string>(field: Field, when?: NonNullable<Entry['when']>): Entry<Field> {
  return { field, absence: 'omitted', ...(when && { when }) }
}

/** The same for a text that may be empty. */
export function optionalText<const Field extends string>(field: Field): Entry<Field> {
  return { field, absence: 'omitted', mayBeEmpty: true }
}

/** May be absent or null; null where it is not known. */
export function orNull<const Field extends string>(field: Field): Entry<Field> {
  return { field, absence: 'null' }
}

/** A field that the form itself does not have, carried end to end; null and `""` mean none. */
export function extension<const Field extends string>(field: Field): Entry<Field> {
  return { field, absence: 'extension' }
}

/** In a question: `standard` where nothing is said. */
export function orElse<const Field extends string>(field: Field, standard: string | number): Entry<Field> {
  return { field, absence: 'required', standard }
}

export function toEntry(entry: string | Entry): Entry {
  return typeof entry === 'string' ? { field: entry, absence: 'required' } : entry
}

export function fieldsOf(table: Table): ReadonlySet<string> {
  return new Set(Object.values(table).map((entry) => toEntry(entry).field))
}
