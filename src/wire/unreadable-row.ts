/** A row of a provider's list that is not of its form: as much of it as can be read. */
import type { AnswerCodec, AnswerSlot } from './answer.ts'
import { JsonNumber, JsonObject, type JsonValue } from './json.ts'

export interface UnreadableFields {
  /** Tells the row from others of the same list. */
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
}

const longestKey = 256

/** Its status is of no use without the rest. */
export function readUnreadable({ slots }: AnswerCodec, row: JsonValue): UnreadableFields {
  if (!(row instanceof JsonObject)) return { key: `${row}`.slice(0, longestKey), fields: {} }
  const read = slots.filter(({ field }) => field !== 'status').map((slot) => [slot.field, readMember(slot, row.get(slot.name))])
  const fields = Object.fromEntries(read.filter(([, value]) => value !== undefined))
  return { key: keyOf(row, slots) ?? JSON.stringify(fields), fields }
}

function readMember({ notation }: AnswerSlot, member: JsonValue | undefined): unknown {
  if (member === undefined || member === null || member === '') return undefined
  return notation.fromJson(member) ?? (typeof member === 'string' ? notation.fromText(member) : undefined)
}

/** The beginning and the end of its id, whatever is wrong with it. */
function keyOf(row: JsonObject, slots: readonly AnswerSlot[]): string | undefined {
  const name = slots.find(({ field }) => field === 'id')?.name
  const id = name === undefined ? undefined : row.get(name)
  const text = id instanceof JsonNumber ? id.lexeme : id
  if (typeof text !== 'string' || text === '') return undefined
  return text.length <= longestKey ? text : `${text.length} ${text.slice(0, longestKey / 2)}${text.slice(-longestKey / 2)}`
}
