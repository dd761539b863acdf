/** The table of a request, compiled once for both directions. A field that the table cannot express is an error, never dropped. */
import { type Amount, compareAmounts } from '../domain/amount.ts'
import type { Reason } from '../domain/fault.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { type Status, statuses } from '../domain/status.ts'
import { JsonNumber, JsonObject, type JsonValue, printString } from './json.ts'
import { plainInText, requestScalars, type Scalar, statusFilter } from './scalar.ts'
import { type RequestTree, type Setting, type SettingKind, type TableColumn, toColumn } from './table.ts'
import { InvalidRequest, WireError } from './wire-error.ts'

export interface RequestCodec extends RequestEncoder {
  /**
   * Throws an `InvalidRequest` that names each invalid parameter. Only for tables without objects. `networksOf`: those of a coin, by
   * which an empty network is refused or means none.
   */
  readonly decode: (parts: RequestParts<JsonValue | undefined>, networksOf?: NetworksOf) => RequestFields
}

/** The networks of a coin by its name. */
export type NetworksOf = (coin: string) => readonly string[]

const scalarOf: Readonly<Record<string, Scalar<unknown>>> = {
  amountIn: requestScalars.amount,
  amountOut: requestScalars.amount,
  rateType: requestScalars.rateType,
  withNetworks: requestScalars.flag,
  isFirm: requestScalars.flag,
  page: requestScalars.page,
  size: requestScalars.size,
  offset: requestScalars.offset,
  dateFrom: requestScalars.date,
  dateTo: requestScalars.date,
  updatedSince: requestScalars.date,
  sort: requestScalars.sort,
  order: requestScalars.order,
  event: requestScalars.sandboxEvent,
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

/**
 * `inPath`: the path's parameters. The others are in the body if the operation has one, otherwise in the query. `shownStatuses`: those of
 * the form. `plainAmounts`: whether amounts in texts and in the query have no exponent. `refusesEmpty`: an empty optional parameter is a mistake, and not the absence of one.
 */
export function compileRequest(
  tree: RequestTree,
  inPath: ReadonlySet<string>,
  hasBody: boolean,
  implied?: readonly string[],
  shownStatuses: ReadonlySet<Status> = new Set(statuses),
  plainAmounts = false,
  refusesEmpty = false,
): RequestCodec {
  const plainAmount = plainInText(requestScalars.amount)
  const toSlot = (name: string, value: string | TableColumn): RequestSlot => {
    const column = toColumn(value)
    const ofField = column.field === 'statuses' ? statusFilter(shownStatuses) : scalarOf[column.field]
    const defaultScalar = plainAmounts && ofField === requestScalars.amount ? plainAmount : (ofField ?? requestScalars.name)
    const place = inPath.has(name) ? 'path' : hasBody ? 'body' : 'query'
    const isAbsentIfEmpty = networkFields.has(column.field) || (!refusesEmpty && isOptional(column))
    return { ...column, name, scalar: column.format?.(defaultScalar) ?? defaultScalar, place, isAbsentIfEmpty }
  }
  const encoder = compileRequestEncode(tree, toSlot, hasBody, implied)
  const inPathSlots = encoder.slots.filter(({ place }) => place === 'path')
  const otherSlots = encoder.slots.filter(({ place }) => place !== 'path')
  return {
    ...encoder,
    decode({ path, query, body }, networksOf = () => []) {
      const fields: RequestFields = {}
      const findings = new Findings()
      for (const { name, field } of inPathSlots) fields[field] = path[name]
      if (hasBody) {
        refuseQuery(query, otherSlots, findings)
        readBody(body, otherSlots, fields, findings)
      } else readQuery(query, otherSlots, fields, findings)
      dropEqualAmounts(otherSlots, fields)
      for (const slot of findings.emptyNetworks) refuseOpenNetwork(slot, networksOf, fields, findings)
      for (const slot of otherSlots) {
        if (slot.isOneOf) requireOneOf(slot, otherSlots, fields, findings)
        else applyDefault(slot, fields, findings)
      }
      if (findings.faults.length > 0) throw new InvalidRequest(findings.faults, fields)
      return fields
    },
  }
}

/** What is wrong with one request: one fault for each mistake, of at most 20 mistakes. */
class Findings {
  readonly faults: WireError[] = []
  readonly emptyNetworks: RequestSlot[] = []
  /** Of lines of which one must be given: what was sent. */
  readonly emptyAlternatives = new Map<RequestSlot, null | ''>()
  /** Fields that a fault is about already. */
  private readonly fields: string[] = []

  add(fault: WireError, field?: string): void {
    if (this.isFull) return
    this.faults.push(fault)
    if (field !== undefined) this.fields.push(field)
  }

  get isFull(): boolean {
    return this.faults.length >= 20
  }

  isAbout(field: string): boolean {
    return this.fields.includes(field)
  }
}

function readQuery(query: string, slots: readonly RequestSlot[], fields: RequestFields, findings: Findings): void {
  const names = new Set<string>()
  readParameters(query, findings, (name, text) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) {
      if (!names.has(name)) addUnknown(name, slots, findings)
    } else if (names.has(name)) findings.add(new WireError(name, 'it is given twice'), slot.field)
    else keep(slot, slot.scalar.fromText(text), text, fields, findings)
    names.add(name)
  })
}

/** Where the parameters are in the body, the query has none. */
function refuseQuery(query: string, slots: readonly RequestSlot[], findings: Findings): void {
  readParameters(query, findings, (name) => {
    const isInBody = slots.some((slot) => slot.name === name)
    if (!isInBody) addUnknown(name, [], findings)
    else findings.add(new WireError(name, 'it is not a parameter here; it belongs in the JSON body', 'parameter_unknown'))
  })
}

/** What follows a parameter that cannot be decoded is not read. */
function readParameters(query: string, findings: Findings, onParameter: (name: string, text: string) => void): void {
  try {
    parseQuery(query, (name, text) => {
      if (!findings.isFull) onParameter(name, text)
    })
  } catch (reason) {
    if (!(reason instanceof WireError)) throw reason
    throw new InvalidRequest([...findings.faults, reason], {})
  }
}

function readBody(body: JsonValue | undefined, slots: readonly RequestSlot[], fields: RequestFields, findings: Findings): void {
  if (!(body instanceof JsonObject)) {
    const fault = new WireError('', `the body must be a JSON object${butItIs(body ?? null)}`, 'body_invalid')
    throw new InvalidRequest([...findings.faults, fault], {})
  }
  body.keys.forEach((name, at) => {
    if (findings.isFull) return
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) {
      addUnknown(name, slots, findings)
      return
    }
    const value = body.values[at] as JsonValue
    keep(slot, slot.scalar.fromJson(value), value, fields, findings)
  })
}

/** Two names of one field must agree. */
function keep(slot: RequestSlot, value: unknown, sent: JsonValue, fields: RequestFields, findings: Findings): void {
  const { name, field, scalar } = slot
  if (slot.isAbsentIfEmpty && (sent === null || sent === '')) {
    if (networkFields.has(field)) findings.emptyNetworks.push(slot)
    if (slot.isOneOf) findings.emptyAlternatives.set(slot, sent)
  } else if (value === undefined) {
    findings.add(new WireError(name, `it must be ${scalar.must}${butItIs(sent, scalar)}`, invalidReasons.get(scalar)), field)
  } else if (fields[field] !== undefined && fields[field] !== value) {
    findings.add(new WireError(name, 'it contradicts another parameter'), field)
  } else fields[field] = value
}

/** The default network is meant by a request without one, not by one that was to have one. */
function refuseOpenNetwork(slot: RequestSlot, networksOf: NetworksOf, fields: RequestFields, findings: Findings): void {
  const { name, field } = slot
  const coin = fields[field.replace('network', 'coin')]
  if (fields[field] !== undefined || typeof coin !== 'string' || networksOf(coin).length < 2) return
  if (!findings.isAbout(field)) findings.add(new WireError(name, 'it is empty', 'network_required'), field)
}

function isOptional({ absence, defaultValue }: TableColumn): boolean {
  return absence !== 'required' || defaultValue !== undefined
}

function applyDefault(slot: RequestSlot, fields: RequestFields, findings: Findings): void {
  const { name, field, defaultValue, absence } = slot
  if (fields[field] !== undefined) return
  if (defaultValue !== undefined) fields[field] = defaultValue
  else if (absence === 'required' && !findings.isAbout(field))
    findings.add(new WireError(name, 'it is missing', reasonOfMissing(field)), field)
}

/** Of two equal amounts the one that counts stays, as it was written. */
function dropEqualAmounts(slots: readonly RequestSlot[], fields: RequestFields): void {
  const counted = slots.find(({ countsIfEqual, field }) => countsIfEqual && fields[field] !== undefined)
  if (!counted) return
  const amount = fields[counted.field] as Amount
  for (const { isOneOf, field } of slots) {
    const other = fields[field] as Amount | undefined
    if (isOneOf && field !== counted.field && other !== undefined && compareAmounts(other, amount) === 0) delete fields[field]
  }
}

/** A second one is at fault; where there is none, an empty one or the first. */
function requireOneOf(slot: RequestSlot, slots: readonly RequestSlot[], fields: RequestFields, findings: Findings): void {
  const { name, field, scalar } = slot
  const every = slots.filter(({ isOneOf }) => isOneOf)
  const given = every.find((each) => fields[each.field] !== undefined || findings.isAbout(each.field))
  if (given && given.field !== field && fields[field] !== undefined)
    findings.add(new WireError(name, `it is given beside ${given.name}; send only one of both`), field)
  if (given) return
  const empty = findings.emptyAlternatives.get(slot)
  if (empty !== undefined) findings.add(new WireError(name, `it must be ${scalar.must}${butItIs(empty)}`), field)
  else if (every[0] === slot && findings.emptyAlternatives.size === 0) findings.add(new WireError(name, 'it is missing'), field)
}

// Sentences about a mistake: what was sent, and the name that was meant.

/** Ends the sentence "it must be a number". Empty where the type is right and there is nothing to say. */
function butItIs(sent: JsonValue, scalar?: Scalar<unknown>): string {
  if (sent === null) return ', but it is null'
  if (sent === '') return ', but it is empty'
  if (typeof sent === 'boolean') return `, but it is ${sent}`
  if (Array.isArray(sent)) return ', but it is a list'
  if (sent instanceof JsonObject) return ', but it is an object'
  const text = sent instanceof JsonNumber ? sent.lexeme : sent
  const cause = scalar?.explain?.(text)
  if (cause !== undefined) return `, but ${cause}`
  const isQuotable = scalar?.schema.type === 'string' && scalar.schema.enum === undefined
  if (sent instanceof JsonNumber) return isQuotable ? ', but it is a number; please put it in quotes' : ', but it is a number'
  return scalar ? '' : ', but it is a text'
}

function addUnknown(name: string, slots: readonly RequestSlot[], findings: Findings): void {
  if (name === '') {
    const message = 'the query has a parameter without a name, for example between two & in a row'
    findings.add(new WireError('', message, 'parameter_unknown'))
    return
  }
  const meant = slotMeantBy(name, slots)
  const nearest = meant
    ? undefined
    : nearestName(
        name,
        slots.map((slot) => slot.name),
      )
  const near = slots.find((slot) => slot.name === nearest)
  const hint = meant ? `its name is ${meant.name}` : near ? `the nearest name is ${near.name}` : hintFor(name, slots)
  findings.add(new WireError(name, `it is not a parameter here; ${hint}`, 'parameter_unknown'), (meant ?? near)?.field)
}

/** Fields by names that other forms have for them, in lower case and without `_` and `-`. */
const fieldsNamed: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    from: ['codeFrom', 'coinFrom'],
    to: ['codeTo', 'coinTo'],
    fromcurrency: ['codeFrom', 'coinFrom'],
    tocurrency: ['codeTo', 'coinTo'],
    fromcoin: ['codeFrom', 'coinFrom'],
    tocoin: ['codeTo', 'coinTo'],
    fromamount: ['amountIn'],
    amountfrom: ['amountIn'],
    toamount: ['amountOut'],
    amountto: ['amountOut'],
    withdrawalamount: ['amountOut'],
    fromnetwork: ['networkFrom'],
    tonetwork: ['networkTo'],
    coinfromnetwork: ['networkFrom'],
    cointonetwork: ['networkTo'],
    address: ['withdrawalAddress'],
    withdrawaladdress: ['address'],
    refundaddress: ['address'],
    addressto: ['withdrawalAddress'],
    extraid: ['withdrawalExtraId'],
    withdrawalextraid: ['extraId'],
    refundextraid: ['extraId'],
    extraidto: ['withdrawalExtraId'],
    memo: ['withdrawalExtraId', 'extraId'],
    tag: ['withdrawalExtraId', 'extraId'],
    limit: ['size'],
    perpage: ['size'],
    pagesize: ['size'],
    state: ['statuses'],
    since: ['updatedSince'],
    updatedfrom: ['updatedSince'],
    updatedafter: ['updatedSince'],
  }),
)

function slotMeantBy(name: string, slots: readonly RequestSlot[]): RequestSlot | undefined {
  const word = plain(name)
  const fields = fieldsNamed.get(word)
  return slots.find((slot) => plain(slot.name) === word || plain(slot.field) === word || fields?.includes(slot.field))
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

const ofNetwork: Readonly<Record<string, string>> = { networkFrom: 'codeFrom', networkTo: 'codeTo', network: 'code' }

function hintFor(name: string, slots: readonly RequestSlot[]): string {
  const word = plain(name)
  const network = Object.keys(ofNetwork).find((field) => plain(field) === word || fieldsNamed.get(word)?.includes(field))
  const withNetwork = slots.find(({ field }) => network !== undefined && field === ofNetwork[network])
  if (withNetwork) return `${withNetwork.name} has the network in its code, such as USDTTRC20`
  return slots.length === 0 ? 'there are none' : `the parameters are ${slots.map((slot) => slot.name).join(', ')}`
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
  /** `""` and null mean that there is none (docs/contract.md §3). */
  readonly isAbsentIfEmpty: boolean
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
  | Setting
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
    if ('setting' in line) return { name, ...line }
    return { name, below: compileNodes(line.inside, toSlot) }
  })
}

function slotsOf(nodes: readonly RequestNode[]): readonly RequestSlot[] {
  return nodes.flatMap((node) => ('slot' in node ? [node.slot] : 'below' in node ? slotsOf(node.below) : []))
}

function queryPart(node: RequestNode, fields: Readonly<RequestFields>, settings: Settings): readonly (readonly [string, string])[] {
  const { name } = node
  if ('always' in node) return [[name, String(node.always)]]
  if ('setting' in node) return settings[node.setting] ? [[name, settings[node.setting] ?? '']] : []
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
  if ('setting' in node) return printSetting(settings[node.setting], node.optional)
  if ('below' in node) return printObject(node.below, fields, settings)
  if (node.slot.place === 'path') return undefined
  if (isPresent(node.slot, fields)) return node.slot.scalar.toJson(fields[node.slot.field])
  return node.slot.isEmptyIfNone ? '""' : undefined
}

/** The configuration has checked that one which is no text is of its kind. */
function printSetting(value: string | undefined, kind: SettingKind = 'text'): string | undefined {
  if (!value) return undefined
  return kind === 'text' ? printString(value) : value
}

function isPresent({ field, absence }: RequestSlot, fields: Readonly<RequestFields>): boolean {
  if (fields[field] !== undefined) return true
  if (absence === 'required') throw new WireError(field, 'it is needed', reasonOfMissing(field))
  return false
}

const networkFields: ReadonlySet<string> = new Set(['network', 'networkFrom', 'networkTo'])

function reasonOfMissing(field: string): Reason {
  return networkFields.has(field) ? 'network_required' : 'parameter_invalid'
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
  const segments = pattern.split('/')
  return {
    pattern,
    parameters,
    match(path) {
      if (parameters.size === 0) return path === pattern ? none : undefined
      if (last === undefined) return matchSegments(segments, path.split('/'))
      return path.startsWith(fixed) ? parameter(last, path.slice(fixed.length)) : undefined
    },
    fill(values) {
      if (last !== undefined) return fixed + encodeURIComponent(values[last] ?? '')
      return pieces.reduce((path, piece, at) => path + (at % 2 === 0 ? piece : encodeURIComponent(values[piece] ?? '')), '')
    },
  }
}

const wholeSegment = /^\{(\w+)\}$/

/** Where each parameter is a whole segment, which is not empty. */
function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [at, segment] of segments.entries()) {
    const name = wholeSegment.exec(segment)?.[1]
    const value = given[at] ?? ''
    const found = name === undefined ? (segment === value ? none : undefined) : parameter(name, value)
    if (!found || (name !== undefined && value === '')) return undefined
    Object.assign(parameters, found)
  }
  return parameters
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
