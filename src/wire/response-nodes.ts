/** The table of a response, compiled: the lines of each object, in the order of the table. */
import type { Drift } from '../domain/observation.ts'
import type { StatusWord } from '../domain/status.ts'
import { type JsonValue, printString } from './json.ts'
import { asText, responseScalars, type Scalar } from './scalar.ts'
import { type Offer, type ResponseTree, type TableColumn, toColumn } from './table.ts'

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
  /** Whether its status waits for what the owner decides; undefined: no status of the form does. */
  readonly awaitsOwner: boolean | undefined
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
  /** The same with amounts as texts. */
  readonly encodeAmountsAsText: (response: object, omitted: Set<string>) => string
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
  readonly shape: 'inside' | 'first' | 'firstIfAny' | 'each' | 'eachText' | 'perItem' | undefined
  /** The field with the items of a list, if the response is encoded. */
  readonly of: string | undefined
  readonly offer: Offer | undefined
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
  attention: responseScalars.attention,
  statusReason: responseScalars.statusReason,
  refundHash: responseScalars.refundHash,
  refundAmount: responseScalars.refundAmount,
  supportUrl: responseScalars.supportUrl,
  hasActions: responseScalars.hint,
  capabilities: responseScalars.capabilities,
  amountIn: responseScalars.amount,
  amountOut: responseScalars.amount,
  rate: responseScalars.amount,
  fee: responseScalars.amount,
  minAmount: responseScalars.amount,
  maxAmount: responseScalars.amount,
  receivedMin: responseScalars.receivedMin,
  depositMin: responseScalars.amount,
  deduction: responseScalars.amount,
  depositMax: responseScalars.amount,
  isDefault: responseScalars.flag,
  isValid: responseScalars.flag,
  reason: responseScalars.complaint,
  failure: responseScalars.reason,
  decimals: responseScalars.count,
  precision: responseScalars.precision,
  decimalsFrom: responseScalars.count,
  decimalsTo: responseScalars.count,
  needsMemoFrom: responseScalars.flag,
  needsMemoTo: responseScalars.flag,
  isOffered: responseScalars.flag,
  isReverseOffered: responseScalars.flag,
  needsMemo: responseScalars.flag,
  canDeposit: responseScalars.hint,
  canWithdraw: responseScalars.hint,
  fixedRate: responseScalars.hint,
  contract: responseScalars.contract,
  contractFrom: responseScalars.contract,
  contractTo: responseScalars.contract,
  reference: responseScalars.reference,
  validUntil: responseScalars.expiry,
  quoteValidUntil: responseScalars.expiry,
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
      offer: undefined,
    }
    if (typeof line === 'string' || 'field' in line) return { ...node, slot: toSlot(toColumn(line), ownPath) }
    if ('offer' in line) return { ...node, offer: line }
    const compileBelow = (below: ResponseTree): ResponseNodes => compileNodes(below, ownPath)
    if ('inside' in line) return { ...node, below: compileBelow(line.inside), shape: 'inside' }
    if ('first' in line) return { ...node, below: compileBelow(line.first), shape: line.mayBeEmpty ? 'firstIfAny' : 'first' }
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
  isForClients: undefined,
  refundWords: undefined,
  impliedReason: undefined,
  idPart: undefined,
  showsDeposit: undefined,
  isEmptyIfNone: undefined,
  isOneOf: undefined,
  countsIfEqual: undefined,
} as const

function toSlot(column: TableColumn, path: readonly string[]): ResponseSlot {
  const defaultScalar = scalarOf[column.field] ?? responseScalars.text
  return { ...blankColumn, ...column, name: path.join('.'), path, scalar: column.format?.(defaultScalar) ?? defaultScalar }
}

export function slotsOf({ list }: ResponseNodes): readonly ResponseSlot[] {
  return list.flatMap(({ slot, below }) => (slot ? [slot] : below ? slotsOf(below) : []))
}

/** The same lines, with amounts as texts. */
export function withAmountsAsText({ list }: ResponseNodes): ResponseNodes {
  const lines = list.map((node) => ({
    ...node,
    slot: node.slot && isAmount(node.slot) ? { ...node.slot, scalar: asText(node.slot.scalar) } : node.slot,
    below: node.below && withAmountsAsText(node.below),
  }))
  return { list: lines, byName: new Map(lines.map((node) => [node.name, node])) }
}

const lenientAmounts: ReadonlySet<string> = new Set(['refundAmount', 'receivedMin'])

function isAmount({ field }: ResponseSlot): boolean {
  return lenientAmounts.has(field) || scalarOf[field] === responseScalars.amount
}
