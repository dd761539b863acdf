/** An answer's table, compiled once to both directions. */
import type { Drift } from '../domain/observation.ts'
import { roundDown, type Status } from '../domain/status.ts'
import { JsonObject, type JsonValue, printString } from './json.ts'
import { answered, type Notation } from './notation.ts'
import { WireProblem } from './problem.ts'
import { type Entry, type Table, toEntry } from './table.ts'

/** How a provider's answer is read beyond its form: what its own status words mean, and who counts the oddities. */
export interface Reading {
  readonly statuses: ReadonlyMap<string, Status>
  readonly drift: (field: string, drift: Drift) => void
}

export interface AnswerCodec {
  /** What can be told, in the order of the table. */
  readonly slots: readonly AnswerSlot[]
  /** Throws a `WireProblem` where the value is not of the form. */
  readonly decode: (value: JsonValue, reading: Reading) => Record<string, unknown>
  /** JSON text; the names of fields that are not known are added to `omitted`. */
  readonly encode: (answer: Readonly<Record<string, unknown>>, omitted: Set<string>) => string
}

export interface AnswerSlot extends Entry {
  readonly name: string
  readonly prefix: string
  readonly notation: Notation<unknown>
}

const notationOf: Readonly<Record<string, Notation<unknown>>> = {
  id: answered.id,
  icon: answered.longText,
  message: answered.longText,
  notes: answered.longText,
  code: answered.name,
  coin: answered.name,
  codeFrom: answered.name,
  codeTo: answered.name,
  coinFrom: answered.name,
  coinTo: answered.name,
  rateType: answered.rateType,
  status: answered.status,
  amountIn: answered.amount,
  amountOut: answered.amount,
  rate: answered.amount,
  fee: answered.amount,
  minAmount: answered.amount,
  maxAmount: answered.amount,
  depositMin: answered.amount,
  depositMax: answered.amount,
  createdAt: answered.date,
  updatedAt: answered.date,
}

function toSlot([name, value]: readonly [string, string | Entry]): AnswerSlot {
  const entry = toEntry(value)
  const notation = notationOf[entry.field] ?? answered.text
  return { ...entry, name, prefix: `${printString(name)}:`, notation }
}

export function compileAnswer(table: Table, statuses: ReadonlySet<string>): AnswerCodec {
  const slots = Object.entries(table).map(toSlot)
  return { slots, decode: compileDecode(slots, statuses), encode: compileEncode(slots, statuses) }
}

function compileDecode(slots: readonly AnswerSlot[], statuses: ReadonlySet<string>): AnswerCodec['decode'] {
  const byName = new Map(slots.map((slot) => [slot.name, slot]))
  // Every answer of a table has all its fields in one order, known or not: engines read such objects fastest.
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(slots.map(({ field }) => [field, undefined]))
  return (value, reading) => {
    if (!(value instanceof JsonObject)) throw new WireProblem('', 'it must be an object')
    const answer: Record<string, unknown> = { ...blank }
    const { keys, values } = value
    let expected = 0
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string
      const slot: AnswerSlot | undefined = slots[expected]?.name === key ? slots[expected] : byName.get(key)
      expected++
      if (!slot) reading.drift('_other', 'unknownField')
      else if (values[at] !== null) read(slot, values[at] as JsonValue, answer, statuses, reading)
    }
    for (const slot of slots) {
      if (answer[slot.field] === undefined) requireAbsence(slot, value, answer)
    }
    return answer
  }
}

function read(
  slot: AnswerSlot,
  value: JsonValue,
  answer: Record<string, unknown>,
  statuses: ReadonlySet<string>,
  reading: Reading,
): void {
  if (slot.field === 'status') answer.status = readStatus(slot, value, statuses, reading)
  else if (!isNothing(slot, value)) answer[slot.field] = readValue(slot, value, reading)
}

/** An empty text where the form may be silent tells nothing: it is no name, no address, no hash. */
function isNothing({ absence, mayBeEmpty, notation }: AnswerSlot, value: JsonValue): boolean {
  return value === '' && absence !== 'required' && !mayBeEmpty && notation !== answered.amount
}

function readValue({ name, notation }: AnswerSlot, value: JsonValue, reading: Reading): unknown {
  const read = notation.fromJson(value)
  if (read !== undefined) return read
  if (notation === answered.amount && typeof value === 'string') {
    reading.drift(name, 'numberAsText')
    const number = notation.fromText(value)
    if (number !== undefined) return number
  }
  throw new WireProblem(name, `it must be ${notation.must}`)
}

/** A word outside the form's set is the operator's to explain; else it stays unknown, never final. */
function readStatus(slot: AnswerSlot, value: JsonValue, statuses: ReadonlySet<string>, reading: Reading): Status | undefined {
  if (typeof value !== 'string') throw new WireProblem(slot.name, `it must be ${slot.notation.must}`)
  if (statuses.has(value)) return value as Status
  const explained = reading.statuses.get(value)
  if (!explained) reading.drift(slot.name, 'unknownStatus')
  return explained
}

function requireAbsence(slot: AnswerSlot, value: JsonObject, answer: Readonly<Record<string, unknown>>): void {
  if (slot.field === 'status' && typeof value.get(slot.name) === 'string') return
  const mayBeAbsent = slot.when ? slot.when(answer) : slot.absence !== 'required'
  if (!mayBeAbsent) throw new WireProblem(slot.name, 'it is missing')
}

function compileEncode(slots: readonly AnswerSlot[], statuses: ReadonlySet<string>): AnswerCodec['encode'] {
  return (answer, omitted) => {
    let text = ''
    for (const { field, name, prefix, absence, notation } of slots) {
      const known = answer[field]
      const value = field === 'status' && known !== undefined ? roundDown(known as Status, statuses) : known
      if (value !== undefined) text += `${text && ','}${prefix}${notation.toJson(value)}`
      else if (absence === 'null') text += `${text && ','}${prefix}null`
      else if (absence !== 'extension') omitted.add(name)
    }
    return `{${text}}`
  }
}
