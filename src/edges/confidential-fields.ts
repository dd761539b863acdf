/** Filters providers' responses: no key in any field, and no confidential text in free text (docs/contract.md §8). */
import type { Confidential } from '../domain/confidential.ts'

/** Free text that is omitted if it is confidential. A rate's `message` may be a rejection: another layer handles it. */
const notesField = 'notes'
const freeTextFields: ReadonlySet<string> = new Set([notesField, 'message'])

type Row = Record<string, unknown>

/** Returns the first field that contains a key: the response must then be rejected. Undefined if there is none. Removes confidential `notes`. */
export function removeConfidential(row: Row, confidential: Confidential, mayContainKey: boolean): string | undefined {
  const notes = row[notesField]
  if (typeof notes === 'string' && confidential.containsWord(notes)) row[notesField] = undefined
  if (!mayContainKey) return undefined
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && !freeTextFields.has(field) && confidential.containsKey(value)) return field
  }
  return undefined
}

/** V8 copies shorter strings; longer ones are slices that keep their source text in memory. */
const minSliceLength = 13
/** Parts of a source text up to this length may keep it in memory. */
const maxSharedLength = 2_048

/** Copies the strings of a row from a large text, so that a stored field does not keep the whole text in memory. */
export function detach(row: Row, text: string): void {
  if (text.length <= maxSharedLength) return
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && value.length >= minSliceLength) row[field] = detachedString(value)
  }
}

/** A slice of a new string keeps only that string, which is one character longer. */
function detachedString(text: string): string {
  return ` ${text}`.slice(1)
}
