/** What of a provider's answer may go on: no key in any text of it, and no confidential word in free text (docs/contract.md §8). */
import type { Confidential } from '../domain/confidential.ts'

/** Free text of an answer that is left out where it is confidential. A rate's `message` may be a refusal: its layer decides. */
const omitted = 'notes'
const free: ReadonlySet<string> = new Set([omitted, 'message'])

type Row = Record<string, unknown>

/** The first field that holds a key, by which the answer is no answer; undefined where there is none. Takes `notes` away that may not be shown. */
export function screen(row: Row, confidential: Confidential, mayHoldKey: boolean): string | undefined {
  const notes = row[omitted]
  if (typeof notes === 'string' && confidential.isIn(notes)) row[omitted] = undefined
  if (!mayHoldKey) return undefined
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && !free.has(field) && confidential.holdsKey(value)) return field
  }
  return undefined
}

/** Strings up to this length are no slices of the text that they were read from. */
const shortestSlice = 13
/** A text of so many characters may be kept as long as a part of it is. */
const smallText = 2_048

/** Copies what was read from a large text, so that a field that is kept does not keep all of it. */
export function detach(row: Row, text: string): void {
  if (text.length <= smallText) return
  for (const field in row) {
    const value = row[field]
    if (typeof value === 'string' && value.length >= shortestSlice) row[field] = copyOf(value)
  }
}

/** A cut of a new string keeps that string, one character longer, and nothing else. */
function copyOf(text: string): string {
  return ` ${text}`.slice(1)
}
