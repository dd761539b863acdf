/** The table of a request, compiled once for both directions. A field that the table cannot express is an error, never dropped. */
import type { Reason } from '../domain/fault.ts'
import { JsonObject, type JsonValue, printString } from './json.ts'
import { requestScalars, type Scalar } from './scalar.ts'
import { type RequestTree, type TableColumn, toColumn } from './table.ts'
import { WireError } from './wire-error.ts'

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

/** Fields with a reason of their own if they are invalid. */
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

// Encodes a request by its table. A field that the table cannot express is an error, never dropped.

type RequestFields = Record<string, unknown>

/** The parts of an HTTP request that carry fields. */
interface RequestParts<Body> {
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Without its `?`. */
  readonly query: string
  readonly body: Body
}

export interface RequestSlot extends TableColumn {
  readonly name: string
  readonly scalar: Scalar<unknown>
  readonly place: 'path' | 'query' | 'body'
}

/** `providers.<name>.settings`. */
export type Settings = Readonly<Record<string, string>>

export interface RequestEncoder {
  /** The fields, in the order of the table. */
  readonly slots: readonly RequestSlot[]
  /** Throws a `WireError` that names a field which the form cannot express or requires. */
  readonly encode: (request: object, settings?: Settings) => RequestParts<string | undefined>
}

type RequestNode = { readonly name: string } & (
  | { readonly slot: RequestSlot }
  | { readonly below: readonly RequestNode[] }
  | { readonly always: string | number | boolean }
  | { readonly setting: string }
)

type ToSlot = (name: string, column: string | TableColumn) => RequestSlot

/** `implied`: fields that the call implies without a line. `hasBody`: fields outside the path are in the body; otherwise in the query, without objects. */
function compileRequestEncode(
  tree: RequestTree,
  toSlot: ToSlot,
  hasBody: boolean,
  implied: readonly string[] = [],
): RequestEncoder {
  const nodes = compileNodes(tree, toSlot)
  const slots = slotsOf(nodes)
  const inPathSlots = slots.filter(({ place }) => place === 'path')
  const knownFields = new Set([...slots.map(({ field }) => field), ...implied])
  return {
    slots,
    encode(request, settings = {}) {
      const fields = request as Readonly<RequestFields>
      for (const field in fields) {
        if (fields[field] !== undefined && !knownFields.has(field)) throw new WireError(field, 'the form cannot express it')
      }
      const path: Record<string, string> = {}
      for (const slot of inPathSlots) if (isPresent(slot, fields)) path[slot.name] = slot.scalar.toText(fields[slot.field])
      return {
        path,
        query: hasBody ? '' : printQuery(nodes.flatMap((node) => queryPart(node, fields, settings))),
        body: hasBody ? (printObject(nodes, fields, settings) ?? '{}') : undefined,
      }
    },
  }
}

function compileNodes(tree: RequestTree, toSlot: ToSlot): readonly RequestNode[] {
  return Object.entries(tree).map(([name, line]): RequestNode => {
    if (typeof line === 'string' || 'field' in line) return { name, slot: toSlot(name, line) }
    if ('always' in line) return { name, always: line.always }
    if ('setting' in line) return { name, setting: line.setting }
    return { name, below: compileNodes(line.inside, toSlot) }
  })
}

function slotsOf(nodes: readonly RequestNode[]): readonly RequestSlot[] {
  return nodes.flatMap((node) => ('slot' in node ? [node.slot] : 'below' in node ? slotsOf(node.below) : []))
}

function queryPart(node: RequestNode, fields: Readonly<RequestFields>, settings: Settings): readonly (readonly [string, string])[] {
  const { name } = node
  if ('always' in node) return [[name, String(node.always)]]
  if ('setting' in node) return settings[node.setting] === undefined ? [] : [[name, settings[node.setting] ?? '']]
  if ('below' in node || node.slot.place === 'path') return []
  if (isPresent(node.slot, fields)) return [[name, node.slot.scalar.toText(fields[node.slot.field])]]
  return node.slot.isEmptyIfNone ? [[name, '']] : []
}

/** Undefined for an object without members, unless its table has no lines. */
function printObject(nodes: readonly RequestNode[], fields: Readonly<RequestFields>, settings: Settings): string | undefined {
  const members = nodes.flatMap((node) => {
    const value = printMember(node, fields, settings)
    return value === undefined ? [] : [`${printString(node.name)}:${value}`]
  })
  return members.length > 0 || nodes.length === 0 ? `{${members.join(',')}}` : undefined
}

function printMember(node: RequestNode, fields: Readonly<RequestFields>, settings: Settings): string | undefined {
  if ('always' in node) return JSON.stringify(node.always)
  if ('setting' in node) return settings[node.setting] === undefined ? undefined : printString(settings[node.setting] ?? '')
  if ('below' in node) return printObject(node.below, fields, settings)
  if (node.slot.place === 'path') return undefined
  if (isPresent(node.slot, fields)) return node.slot.scalar.toJson(fields[node.slot.field])
  return node.slot.isEmptyIfNone ? '""' : undefined
}

function isPresent({ field, absence }: RequestSlot, fields: Readonly<RequestFields>): boolean {
  if (fields[field] !== undefined) return true
  if (absence === 'required') throw new WireError(field, 'it is needed', reasonOfMissing(field))
  return false
}

function reasonOfMissing(field: string): Reason {
  return field === 'networkFrom' || field === 'networkTo' ? 'network_required' : 'parameter_invalid'
}

// Query strings, strictly: every name once, every value whole.

const encoded = /[%+]/

/** Calls `onParameter` for each parameter. Throws a `WireError` for broken escapes and text that is not UTF-8. */
export function parseQuery(query: string, onParameter: (name: string, value: string) => void): void {
  if (query === '') return
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=')
    if (at < 0) onParameter(decode(pair), '')
    else onParameter(decode(pair.slice(0, at)), decode(pair.slice(at + 1)))
  }
}

export function printQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

function decode(text: string): string {
  if (!encoded.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new WireError('', 'the query must be percent-encoded UTF-8')
  }
}

// Paths with parameters: `/transactions/{id}`. Only one whose single parameter is its last segment can be matched.

export interface PathPattern {
  readonly pattern: string
  readonly parameters: ReadonlySet<string>
  /** The decoded parameters of a matching path; undefined if it does not match. */
  readonly match: (path: string) => Readonly<Record<string, string>> | undefined
  /** The path with its parameters percent-encoded, so that none begins another segment. */
  readonly fill: (parameters: Readonly<Record<string, string>>) => string
}

const none = {}
const placeholder = /\{(\w+)\}/

/** The method and the path of an operation: `GET /transactions/{id}`. */
export function compileEndpoint(at: string): { readonly method: 'GET' | 'POST'; readonly path: PathPattern } {
  const method = at.startsWith('GET ') ? 'GET' : 'POST'
  return { method, path: compilePath(at.slice(method.length + 1)) }
}

export function compilePath(pattern: string): PathPattern {
  // Fixed texts and names of parameters, in turn.
  const pieces = pattern.split(placeholder)
  const parameters = new Set(pieces.filter((_, at) => at % 2 === 1))
  const [, fixed = '', last] = /^([^{]*\/)\{(\w+)\}$/.exec(pattern) ?? []
  return {
    pattern,
    parameters,
    match(path) {
      if (parameters.size === 0) return path === pattern ? none : undefined
      return last !== undefined && path.startsWith(fixed) ? parameter(last, path.slice(fixed.length)) : undefined
    },
    fill(values) {
      if (last !== undefined) return fixed + encodeURIComponent(values[last] ?? '')
      return pieces.reduce((path, piece, at) => path + (at % 2 === 0 ? piece : encodeURIComponent(values[piece] ?? '')), '')
    },
  }
}

/** A segment that cannot be decoded matches no path. */
function parameter(name: string, segment: string): Record<string, string> | undefined {
  if (segment.includes('/')) return undefined
  // Not a literal with a computed name: V8 has no fast path for it.
  const parameters: Record<string, string> = {}
  try {
    parameters[name] = segment.includes('%') ? decodeURIComponent(segment) : segment
  } catch {
    return undefined
  }
  return parameters
}
