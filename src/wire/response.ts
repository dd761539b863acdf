/** An answer's table, compiled once to both directions. */

import { roundDown, type Status } from '../domain/swap/status.ts'
import type { Drift } from '../domain/telemetry/observation.ts'
import { JsonObject, type JsonValue, printString } from './json.ts'
import { responseScalars, type Scalar } from './scalar.ts'
import { type Table, type TableColumn, toColumn } from './table.ts'
import { WireError } from './wire-error.ts'

/** How a provider's answer is read beyond its form: what its own status words mean, and who counts the oddities. */
export interface DecodeContext {
  readonly statuses: ReadonlyMap<string, Status>
  readonly drift: (field: string, drift: Drift) => void
}

export interface ResponseCodec {
  /** What can be told, in the order of the table. */
  readonly slots: readonly ResponseSlot[]
  /** Throws a `WireProblem` where the value is not of the form. */
  readonly decode: (value: JsonValue, context: DecodeContext) => Record<string, unknown>
  /** JSON text; the names of fields that are not known are added to `omitted`. */
  readonly encode: (response: object, omitted: Set<string>) => string
}

export interface ResponseSlot extends TableColumn {
  readonly name: string
  readonly prefix: string
  readonly scalar: Scalar<unknown>
}

const scalarOf: Readonly<Record<string, Scalar<unknown>>> = {
  id: responseScalars.id,
  icon: responseScalars.longText,
  message: responseScalars.longText,
  notes: responseScalars.longText,
  code: responseScalars.name,
  coin: responseScalars.name,
  codeFrom: responseScalars.name,
  codeTo: responseScalars.name,
  coinFrom: responseScalars.name,
  coinTo: responseScalars.name,
  rateType: responseScalars.rateType,
  status: responseScalars.status,
  amountIn: responseScalars.amount,
  amountOut: responseScalars.amount,
  rate: responseScalars.amount,
  fee: responseScalars.amount,
  minAmount: responseScalars.amount,
  maxAmount: responseScalars.amount,
  depositMin: responseScalars.amount,
  depositMax: responseScalars.amount,
  createdAt: responseScalars.date,
  updatedAt: responseScalars.date,
}

function toSlot([name, value]: readonly [string, string | TableColumn]): ResponseSlot {
  const entry = toColumn(value)
  const scalar = scalarOf[entry.field] ?? responseScalars.text
  return { ...entry, name, prefix: `${printString(name)}:`, scalar }
}

export function compileResponse(table: Table, statuses: ReadonlySet<string>): ResponseCodec {
  const slots = Object.entries(table).map(toSlot)
  return { slots, decode: compileDecode(slots, statuses), encode: compileEncode(slots, statuses) }
}

function compileDecode(slots: readonly ResponseSlot[], statuses: ReadonlySet<string>): ResponseCodec['decode'] {
  const byName = new Map(slots.map((slot) => [slot.name, slot]))
  // Every answer of a table has all its fields in one order, known or not: engines read such objects fastest.
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(slots.map(({ field }) => [field, undefined]))
  return (value, context) => {
    if (!(value instanceof JsonObject)) throw new WireError('', 'it must be an object')
    const response: Record<string, unknown> = { ...blank }
    const { keys, values } = value
    let expected = 0
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string
      const slot: ResponseSlot | undefined = slots[expected]?.name === key ? slots[expected] : byName.get(key)
      expected++
      if (!slot) context.drift('_other', 'unknownField')
      else if (values[at] !== null) read(slot, values[at] as JsonValue, response, statuses, context)
    }
    for (const slot of slots) {
      if (response[slot.field] === undefined) requireAbsence(slot, value, response)
    }
    return response
  }
}

function read(
  slot: ResponseSlot,
  value: JsonValue,
  response: Record<string, unknown>,
  statuses: ReadonlySet<string>,
  context: DecodeContext,
): void {
  if (slot.field === 'status') response.status = readStatus(slot, value, statuses, context)
  else if (!isNothing(slot, value)) response[slot.field] = readValue(slot, value, context)
}

/** An empty text where the form may be silent tells nothing: it is no name, no address, no hash. */
function isNothing({ absence, mayBeEmpty, scalar }: ResponseSlot, value: JsonValue): boolean {
  return value === '' && absence !== 'required' && !mayBeEmpty && scalar !== responseScalars.amount
}

function readValue({ name, scalar }: ResponseSlot, value: JsonValue, context: DecodeContext): unknown {
  const read = scalar.fromJson(value)
  if (read !== undefined) return read
  if (scalar === responseScalars.amount && typeof value === 'string') {
    context.drift(name, 'numberAsText')
    const number = scalar.fromText(value)
    if (number !== undefined) return number
  }
  throw new WireError(name, `it must be ${scalar.must}`)
}

/** A word outside the form's set is the operator's to explain; else it stays unknown, never final. */
function readStatus(
  slot: ResponseSlot,
  value: JsonValue,
  statuses: ReadonlySet<string>,
  context: DecodeContext,
): Status | undefined {
  if (typeof value !== 'string') throw new WireError(slot.name, `it must be ${slot.scalar.must}`)
  if (statuses.has(value)) return value as Status
  const mapped = context.statuses.get(value)
  if (!mapped) context.drift(slot.name, 'unknownStatus')
  return mapped
}

function requireAbsence(slot: ResponseSlot, value: JsonObject, response: Readonly<Record<string, unknown>>): void {
  if (slot.field === 'status' && typeof value.get(slot.name) === 'string') return
  const mayBeAbsent = slot.when ? slot.when(response) : slot.absence !== 'required'
  if (!mayBeAbsent) throw new WireError(slot.name, 'it is missing')
}

function compileEncode(slots: readonly ResponseSlot[], statuses: ReadonlySet<string>): ResponseCodec['encode'] {
  return (response, omitted) => {
    const fields = response as Readonly<Record<string, unknown>>
    let text = ''
    for (const { field, name, prefix, absence, scalar } of slots) {
      const known = fields[field]
      const value = field === 'status' && known !== undefined ? roundDown(known as Status, statuses) : known
      if (value !== undefined) text += `${text && ','}${prefix}${scalar.toJson(value)}`
      else if (absence === 'null') text += `${text && ','}${prefix}null`
      else if (absence !== 'extension') omitted.add(name)
    }
    return `{${text}}`
  }
}
