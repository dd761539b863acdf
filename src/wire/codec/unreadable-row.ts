/** A row of a provider's list that does not match its form: the fields that can be decoded. */

import { JsonNumber, JsonObject, type JsonValue } from '../json.ts'
import { memberAt } from './member.ts'
import type { ResponseCodec, ResponseSlot } from './response-nodes.ts'

export interface UnreadableFields {
  /** Unique among the rows of the list. */
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
}

const maxKeyLength = 256

/** Its status is of no use without the rest. */
export function readUnreadable({ slots }: Pick<ResponseCodec, 'slots'>, row: JsonValue): UnreadableFields {
  if (!(row instanceof JsonObject)) return { key: `${row}`.slice(0, maxKeyLength), fields: {} }
  const read = slots
    .filter(({ field }) => field !== 'status')
    .map((slot) => [slot.field, readMember(slot, memberAt(row, slot.path))])
  const fields = Object.fromEntries(read.filter(([, value]) => value !== undefined))
  return { key: keyOf(row, slots) ?? JSON.stringify(fields), fields }
}

function readMember({ scalar }: ResponseSlot, member: JsonValue | undefined): unknown {
  if (member === undefined || member === null || member === '') return undefined
  const text = member instanceof JsonNumber ? member.lexeme : member
  return scalar.fromJson(member) ?? (typeof text === 'string' ? scalar.fromText(text) : undefined)
}

/** The beginning and the end of its id, whatever is wrong with it. */
function keyOf(row: JsonObject, slots: readonly ResponseSlot[]): string | undefined {
  const path = slots.find(({ field }) => field === 'id')?.path
  const id = path === undefined ? undefined : memberAt(row, path)
  const text = id instanceof JsonNumber ? id.lexeme : id
  if (typeof text !== 'string' || text === '') return undefined
  return text.length <= maxKeyLength ? text : `${text.length} ${text.slice(0, maxKeyLength / 2)}${text.slice(-maxKeyLength / 2)}`
}
