/** The table of a response, compiled: the lines of each object, in the order of the table. */
import type { Drift } from '../domain/observation.ts'
import type { StatusWord } from '../domain/status.ts'
import { JsonNumber, JsonObject, type JsonValue, printString } from './json.ts'
import { responseScalars, type Scalar } from './scalar.ts'
import { memberAt, type ResponseTree, type TableColumn, toColumn } from './table.ts'
import { WireError } from './wire-error.ts'

/** Decodes a provider's response: its configured status words, and the counter of drift. */
export interface DecodeContext {
  readonly statuses: ReadonlyMap<string, StatusWord>
  /** `name`: the provider's name of a field that its form does not have; any text. */
  readonly drift: (field: string, drift: Drift, name?: string) => void
}

export type ResponseFields = Record<string, unknown>

/** Known fields of a response before it is decoded. */
export interface Given {
  /** Of other calls of the same operation; this response's own fields replace them. */
  readonly fields?: Readonly<ResponseFields> | undefined
  /** Used if the response lacks them; they are then `derived`. */
  readonly assumed?: Readonly<ResponseFields> | undefined
  /** A field that the response may lack, whatever its table says. */
  readonly mayLack?: string | undefined
}

/** A row of a response, and where its fields come from. */
export interface DecodedRow {
  readonly fields: ResponseFields
  /** Fields that were assumed, or have been reduced by a deduction. */
  readonly derived: readonly string[]
  /** Fields of members that are null. */
  readonly nulls: readonly string[]
  /** Fields whose value comes from the line that is used if no other has it. */
  readonly fallbacks: readonly string[]
}

export interface ResponseCodec {
  readonly nodes: ResponseNodes
  /** The fields, in the order of the table. */
  readonly slots: readonly ResponseSlot[]
  /** Throws a `WireError` if the value does not match the form. */
  readonly decode: (value: JsonValue, context: DecodeContext, given?: Given) => DecodedRow
  /** The rows of one item of a list: several if its table has a list inside. */
  readonly decodeRows: (value: JsonValue, context: DecodeContext, given?: Given) => readonly DecodedRow[]
  /** JSON text; the names of fields that are not known are added to `omitted`. */
  readonly encode: (response: object, omitted: Set<string>) => string
}

type Complete<T> = { readonly [Key in keyof T]-?: T[Key] | undefined }

/** A column with all its keys, also unknown ones: engines read objects of one shape fastest. */
export interface ResponseSlot extends Complete<Omit<TableColumn, 'field' | 'absence'>>, Pick<TableColumn, 'field' | 'absence'> {
  /** With the names of the objects around it: `coinFrom.coinCode`. */
  readonly name: string
  readonly path: readonly string[]
  readonly scalar: Scalar<unknown>
}

/** The lines of one object, compiled. */
export interface ResponseNodes {
  readonly list: readonly ResponseNode[]
  readonly byName: ReadonlyMap<string, ResponseNode>
}

export interface ResponseNode {
  readonly name: string
  readonly index: number
  /** With the names of the objects around it. */
  readonly fullName: string
  /** The name as JSON, of the first member and of a later one. */
  readonly prefix: string
  readonly nextPrefix: string
  readonly slot: ResponseSlot | undefined
  readonly below: ResponseNodes | undefined
  readonly shape: 'inside' | 'first' | 'each' | 'eachText' | 'perItem' | undefined
  /** The field with the items of a list, if the response is encoded. */
  readonly of: string | undefined
}

const scalarOf: Readonly<Record<string, Scalar<unknown>>> = {
  id: responseScalars.id,
  quoteId: responseScalars.name,
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
  deduction: responseScalars.amount,
  depositMax: responseScalars.amount,
  isDefault: responseScalars.flag,
  needsMemo: responseScalars.flag,
  contract: responseScalars.contract,
  contractFrom: responseScalars.contract,
  contractTo: responseScalars.contract,
  reference: responseScalars.reference,
  validUntil: responseScalars.expiry,
  createdAt: responseScalars.date,
  updatedAt: responseScalars.date,
}

export function compileNodes(tree: ResponseTree, path: readonly string[]): ResponseNodes {
  const list = Object.entries(tree).map(([name, line], index): ResponseNode => {
    const ownPath = name === '' ? path : [...path, name]
    const fullName = ownPath.join('.')
    const prefix = `${printString(name)}:`
    const node = {
      name,
      index,
      fullName,
      prefix,
      nextPrefix: `,${prefix}`,
      slot: undefined,
      below: undefined,
      shape: undefined,
      of: undefined,
    }
    if (typeof line === 'string' || 'field' in line) return { ...node, slot: toSlot(toColumn(line), ownPath) }
    const compileBelow = (below: ResponseTree): ResponseNodes => compileNodes(below, ownPath)
    if ('inside' in line) return { ...node, below: compileBelow(line.inside), shape: 'inside' }
    if ('first' in line) return { ...node, below: compileBelow(line.first), shape: 'first' }
    if ('perItem' in line) return { ...node, below: compileBelow(line.perItem), shape: 'perItem' }
    if (!('each' in line)) return node
    return { ...node, below: compileBelow(line.each), shape: line.isText ? 'eachText' : 'each', of: line.of }
  })
  return { list, byName: new Map(list.map((node) => [node.name, node])) }
}

const blankColumn = {
  field: '',
  absence: 'required',
  when: undefined,
  mayBeEmpty: undefined,
  defaultValue: undefined,
  format: undefined,
  isZeroNone: undefined,
  isFallback: undefined,
  deductedFrom: undefined,
  isEmptyIfNone: undefined,
} as const

function toSlot(column: TableColumn, path: readonly string[]): ResponseSlot {
  const defaultScalar = scalarOf[column.field] ?? responseScalars.text
  return { ...blankColumn, ...column, name: path.join('.'), path, scalar: column.format?.(defaultScalar) ?? defaultScalar }
}

export function slotsOf({ list }: ResponseNodes): readonly ResponseSlot[] {
  return list.flatMap(({ slot, below }) => (slot ? [slot] : below ? slotsOf(below) : []))
}

// The envelope of a page, in both directions.

/** Where a page's rows and figures are: a name, or a name inside an object. */
export interface ClientEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | ClientEnvelope
}

/** A provider's page may also have the number of its last page, and names of no use. */
export interface ProviderEnvelope {
  readonly [name: string]: 'items' | keyof PageNumbers | 'lastPage' | 'unused' | ProviderEnvelope
}

export interface DecodedPage {
  readonly items: readonly JsonValue[]
  /** Undefined where the provider gives no total. */
  readonly total: number | undefined
  readonly lastPage: number | undefined
}

export function decodePage(envelope: ProviderEnvelope | 'items', value: JsonValue, context: DecodeContext): DecodedPage {
  if (envelope === 'items') return { items: readItems('', value), total: undefined, lastPage: undefined }
  const page: { items?: readonly JsonValue[]; total?: number; lastPage?: number } = {}
  let nullName: string | undefined
  const walk = (names: ProviderEnvelope, object: JsonValue | undefined): void => {
    if (!(object instanceof JsonObject)) throw new WireError('', 'it must be an object')
    for (const [name, place] of Object.entries(names)) {
      const member = object.get(name)
      if (place === 'items' && member === null) nullName = name
      else if (place === 'items') page.items = readItems(name, member)
      else if (typeof place !== 'string') walk(place, member)
      else if (place !== 'unused') {
        const count = readCount(name, member, context)
        if (place === 'total' || place === 'lastPage') page[place] = count
      }
    }
    const unknown = object.keys.find((name) => !Object.hasOwn(names, name))
    if (unknown !== undefined) context.drift('_other', 'unknownField', unknown)
  }
  walk(envelope, value)
  // No rows, as some languages write an empty list.
  if (nullName !== undefined && page.total !== 0) readItems(nullName, null)
  return { items: page.items ?? [], total: page.total, lastPage: page.lastPage }
}

function readItems(name: string, value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new WireError(name, 'it must be an array')
  return value
}

function readCount(name: string, value: JsonValue | undefined, context: DecodeContext): number {
  const text = value instanceof JsonNumber ? value.lexeme : value
  if (typeof value === 'string') context.drift(name, 'numberAsText')
  const count = typeof text === 'string' ? responseScalars.count.fromText(text) : undefined
  if (count === undefined) throw new WireError(name, `it must be ${responseScalars.count.must}`)
  return count
}

interface PageNumbers {
  readonly page: number
  readonly size: number
  readonly total: number
}

export function encodePage(envelope: ClientEnvelope, items: readonly string[], numbers: PageNumbers): string {
  const members = Object.entries(envelope).map(([name, place]) => {
    if (place === 'items') return `${printString(name)}:[${items.join(',')}]`
    if (typeof place === 'string') return `${printString(name)}:${numbers[place]}`
    return `${printString(name)}:${encodePage(place, items, numbers)}`
  })
  return `{${members.join(',')}}`
}

// A row of a provider's list that does not match its form: the fields that can be decoded.

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
