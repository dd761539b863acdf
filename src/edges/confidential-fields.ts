/** What of a provider's answer may go on: no key in any text of it, and no confidential word in free text (docs/contract.md §8). */
import type { Confidential } from '../domain/faults/confidential.ts'

/** Free text of an answer that is left out where it is confidential. A rate's `message` may be a refusal: its layer decides. */
const notesField = 'notes'
const freeTextFields: ReadonlySet<string> = new Set([notesField, 'message'])

type Row = Record<string, unknown>

/** The first field that holds a key, by which the answer is no answer; undefined where there is none. Takes `notes` away that may not be shown. */
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

/** Strings up to this length are no slices of the text that they were read from. */
const minSliceLength = 13
/** A text of so many characters may be kept as long as a part of it is. */
const maxSharedLength = 2_048

/** Copies what was read from a large text, so that a field that is kept does not keep all of it. */
export function detach(row: Row, text: string): void {
  if (text.length <= maxSharedLength) return
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && value.length >= minSliceLength) row[field] = detachedString(value)
  }
}

/** A cut of a new string keeps that string, one character longer, and nothing else. */
function detachedString(text: string): string {
  return ` ${text}`.slice(1)
}
