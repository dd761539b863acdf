/** The table of a request, compiled once for both directions. A field that the table cannot express is an error, never dropped. */
import type { Reason } from '../../domain/fault.ts'
import { JsonObject, type JsonValue } from '../json.ts'
import { parseQuery } from '../query.ts'
import { WireError } from '../wire-error.ts'
import {
  compileRequestEncode,
  type RequestEncoder,
  type RequestFields,
  type RequestParts,
  type RequestSlot,
  reasonOfMissing,
} from './request-encode.ts'
import { requestScalars, type Scalar } from './scalar.ts'
import { type RequestTree, type TableColumn, toColumn } from './table.ts'

export interface RequestCodec extends RequestEncoder {
  /** Throws a `WireError` that names the first invalid parameter. Only for tables without objects. */
  readonly decode: (parts: RequestParts<JsonValue | undefined>) => RequestFields
}

const scalarOf: Readonly<Record<string, Scalar<unknown>>> = {
  amountIn: requestScalars.amount,
  rateType: requestScalars.rateType,
  withNetworks: requestScalars.flag,
  page: requestScalars.page,
  size: requestScalars.size,
  offset: requestScalars.offset,
  dateFrom: requestScalars.date,
  dateTo: requestScalars.date,
  withdrawalAddress: requestScalars.address,
  refundAddress: requestScalars.address,
  withdrawalExtraId: requestScalars.extraId,
  refundExtraId: requestScalars.extraId,
}

/** Fields with a reason of their own if they are missing. */
const invalidReasons: ReadonlyMap<Scalar<unknown>, Reason> = new Map<Scalar<unknown>, Reason>([
  [requestScalars.address, 'address_invalid'],
  [requestScalars.extraId, 'memo_invalid'],
])

/** `inPath`: the path's parameters. The others are in the body if the operation has one, otherwise in the query. */
export function compileRequest(
  tree: RequestTree,
  inPath: ReadonlySet<string>,
  hasBody: boolean,
  implied?: readonly string[],
): RequestCodec {
  const toSlot = (name: string, value: string | TableColumn): RequestSlot => {
    const column = toColumn(value)
    const defaultScalar = scalarOf[column.field] ?? requestScalars.name
    const place = inPath.has(name) ? 'path' : hasBody ? 'body' : 'query'
    return { ...column, name, scalar: column.format?.(defaultScalar) ?? defaultScalar, place }
  }
  const encoder = compileRequestEncode(tree, toSlot, hasBody, implied)
  const inPathSlots = encoder.slots.filter(({ place }) => place === 'path')
  const otherSlots = encoder.slots.filter(({ place }) => place !== 'path')
  return {
    ...encoder,
    decode({ path, query, body }) {
      const fields: RequestFields = {}
      for (const { name, field } of inPathSlots) fields[field] = path[name]
      readQuery(query, hasBody ? [] : otherSlots, fields)
      if (hasBody) readBody(body, otherSlots, fields)
      for (const slot of otherSlots) applyDefault(slot, fields)
      return fields
    },
  }
}

function readQuery(query: string, slots: readonly RequestSlot[], fields: RequestFields): void {
  const names = new Set<string>()
  parseQuery(query, (name, text) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireError(name, 'it is not a parameter here', 'parameter_unknown')
    if (names.has(name)) throw new WireError(name, 'it is given twice')
    names.add(name)
    keep(slot, slot.scalar.fromText(text), fields)
  })
}

function readBody(body: JsonValue | undefined, slots: readonly RequestSlot[], fields: RequestFields): void {
  if (!(body instanceof JsonObject)) throw new WireError('', 'the body must be a JSON object', 'body_invalid')
  body.keys.forEach((name, at) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireError(name, 'it is not a parameter here', 'parameter_unknown')
    const value = body.values[at] as JsonValue
    if (slot.absence === 'extension' && (value === null || value === '')) return
    keep(slot, slot.scalar.fromJson(value), fields)
  })
}

/** Two names of one field must agree. */
function keep({ name, field, scalar }: RequestSlot, value: unknown, fields: RequestFields): void {
  if (value === undefined) throw new WireError(name, `it must be ${scalar.must}`, invalidReasons.get(scalar))
  if (fields[field] !== undefined && fields[field] !== value) throw new WireError(name, 'it contradicts another parameter')
  fields[field] = value
}

function applyDefault(slot: RequestSlot, fields: RequestFields): void {
  if (fields[slot.field] !== undefined) return
  if (slot.defaultValue !== undefined) fields[slot.field] = slot.defaultValue
  else if (slot.absence === 'required') throw new WireError(slot.name, 'it is missing', reasonOfMissing(slot.field))
}
