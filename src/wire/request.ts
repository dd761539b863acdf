/** A question's table, compiled once to both directions. A question loses nothing: what cannot be said is a problem. */
import type { Reason } from '../domain/faults/reason.ts'
import { JsonObject, type JsonValue, printString } from './json.ts'
import { parseQuery, printQuery } from './query.ts'
import { requestScalars, type Scalar } from './scalar.ts'
import { type Table, type TableColumn, toColumn } from './table.ts'
import { WireError } from './wire-error.ts'

type RequestFields = Record<string, unknown>

/** A question as it stands in a request: in the path, in the query, in the body. */
export interface RequestParts<Body> {
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Without its `?`. */
  readonly query: string
  readonly body: Body
}

export interface RequestCodec {
  /** What can be asked, in the order of the table. */
  readonly slots: readonly RequestSlot[]
  /** Throws a `WireProblem` that names the first bad parameter. */
  readonly decode: (parts: RequestParts<JsonValue | undefined>) => RequestFields
  /** Throws a `WireProblem` that names the domain field which the form cannot say, or needs to be told. */
  readonly encode: (request: object) => RequestParts<string | undefined>
}

export interface RequestSlot extends TableColumn {
  readonly name: string
  readonly scalar: Scalar<unknown>
  readonly place: 'path' | 'query' | 'body'
}

const scalarOf: Readonly<Record<string, Scalar<unknown>>> = {
  amountIn: requestScalars.amount,
  rateType: requestScalars.rateType,
  page: requestScalars.page,
  size: requestScalars.size,
  dateFrom: requestScalars.date,
  dateTo: requestScalars.date,
  withdrawalAddress: requestScalars.address,
  refundAddress: requestScalars.address,
  withdrawalExtraId: requestScalars.extraId,
  refundExtraId: requestScalars.extraId,
}

/** What is wrong of these has a word of its own. */
const invalidReasons: ReadonlyMap<Scalar<unknown>, Reason> = new Map<Scalar<unknown>, Reason>([
  [requestScalars.address, 'address_invalid'],
  [requestScalars.extraId, 'memo_invalid'],
])

/** `inPath` names the path's parameters; the rest stands in the body where the operation has one, else in the query. */
export function compileRequest(table: Table, inPath: ReadonlySet<string>, hasBody: boolean): RequestCodec {
  const slots = Object.entries(table).map(([name, value]): RequestSlot => {
    const entry = toColumn(value)
    const place = inPath.has(name) ? 'path' : hasBody ? 'body' : 'query'
    return { ...entry, name, scalar: scalarOf[entry.field] ?? requestScalars.name, place }
  })
  const inPathSlots = slots.filter(({ place }) => place === 'path')
  const otherSlots = slots.filter(({ place }) => place !== 'path')
  const knownFields = new Set(slots.map(({ field }) => field))
  return {
    slots,
    decode({ path, query, body }) {
      const fields: RequestFields = {}
      for (const { name, field } of inPathSlots) fields[field] = path[name]
      readQuery(query, hasBody ? [] : otherSlots, fields)
      if (hasBody) readBody(body, otherSlots, fields)
      for (const slot of otherSlots) applyDefault(slot, fields)
      return fields
    },
    encode(request) {
      const fields = request as Readonly<RequestFields>
      for (const field in fields) {
        if (fields[field] !== undefined && !knownFields.has(field)) throw new WireError(field, 'it cannot be asked for')
      }
      const path: Record<string, string> = {}
      for (const { name, field } of inPathSlots) path[name] = String(fields[field])
      const present = otherSlots.filter((slot) => isPresent(slot, fields))
      return {
        path,
        query: hasBody ? '' : printQuery(present.map((slot) => [slot.name, slot.scalar.toText(fields[slot.field])])),
        body: hasBody ? printBody(present, fields) : undefined,
      }
    },
  }
}

function readQuery(query: string, slots: readonly RequestSlot[], fields: RequestFields): void {
  parseQuery(query, (name, text) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireError(name, 'it is not a parameter here', 'parameter_unknown')
    if (fields[slot.field] !== undefined) throw new WireError(name, 'it is given twice')
    fields[slot.field] = accept(slot, slot.scalar.fromText(text))
  })
}

function readBody(body: JsonValue | undefined, slots: readonly RequestSlot[], fields: RequestFields): void {
  if (!(body instanceof JsonObject)) throw new WireError('', 'the body must be a JSON object', 'body_invalid')
  body.keys.forEach((name, at) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireError(name, 'it is not a parameter here', 'parameter_unknown')
    const value = body.values[at] as JsonValue
    if (slot.absence === 'extension' && (value === null || value === '')) return
    fields[slot.field] = accept(slot, slot.scalar.fromJson(value))
  })
}

function accept({ name, scalar }: RequestSlot, value: unknown): unknown {
  if (value === undefined) throw new WireError(name, `it must be ${scalar.must}`, invalidReasons.get(scalar))
  return value
}

function applyDefault(slot: RequestSlot, fields: RequestFields): void {
  if (fields[slot.field] !== undefined) return
  if (slot.defaultValue !== undefined) fields[slot.field] = slot.defaultValue
  else if (slot.absence === 'required') throw new WireError(slot.name, 'it is missing', reasonOfMissing(slot))
}

function reasonOfMissing({ field }: RequestSlot): Reason {
  return field === 'networkFrom' || field === 'networkTo' ? 'network_required' : 'parameter_invalid'
}

function isPresent(slot: RequestSlot, fields: Readonly<RequestFields>): boolean {
  if (fields[slot.field] !== undefined) return true
  if (slot.absence === 'required') throw new WireError(slot.field, 'it is needed', reasonOfMissing(slot))
  return false
}

function printBody(slots: readonly RequestSlot[], fields: Readonly<RequestFields>): string {
  return `{${slots.map(({ name, field, scalar }) => `${printString(name)}:${scalar.toJson(fields[field])}`).join(',')}}`
}
