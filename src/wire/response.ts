/** The table of a response, compiled once for both directions. */

import { type Amount, compareAmounts, isZero, multiplySubtract, one, zero } from '../domain/amount.ts'
import { isAttention, roundDown, type Status, type StatusReason, type StatusWord } from '../domain/status.ts'
import { isTransactionId } from '../domain/swap.ts'
import { JsonNumber, JsonObject, type JsonValue, oversizedRow } from './json.ts'
import {
  compileNodes,
  type DecodeContext,
  type DecodedRow,
  type Given,
  type ResponseCodec,
  type ResponseFields,
  type ResponseNode,
  type ResponseNodes,
  type ResponseSlot,
  slotsOf,
  withAmountsAsText,
} from './response-nodes.ts'
import { isZeroAmount, partOfId, responseScalars, timestampOf } from './scalar.ts'
import { isPresent, memberAt, type Offer, type OfferField, type ResponseTree, type StatusMeaning } from './table.ts'
import { EmptyResponse, WireError } from './wire-error.ts'

/** The status words that can be decoded and encoded. */
export interface StatusWords {
  /** Of words that mean `held` or `failed`: the reason, where no line has one. */
  readonly reasons?: ReadonlyMap<string, StatusReason> | undefined
  /** The provider's words for a held swap that waits for what its owner decides; absent: a line of the response says it, or nothing does. */
  readonly awaitingOwner?: ReadonlySet<string> | undefined
  readonly meanings: ReadonlyMap<string, StatusMeaning>
  /** The provider's page of a transaction, with `{id}` in it; used where no line has one. */
  readonly orderPage?: string | undefined
  readonly available: ReadonlySet<string>
}

/** `readOnly`: lines that are decoded as well, and never encoded. */
export function compileResponse(tree: ResponseTree, statuses: StatusWords, readOnly: ResponseTree = {}): ResponseCodec {
  const nodes = compileNodes(tree, [])
  const decoded = compileNodes({ ...readOnly, ...tree }, [])
  return {
    nodes,
    slots: slotsOf(nodes),
    ...compileDecode(decoded, slotsOf(decoded), statuses),
    encode: compileEncode(nodes, statuses.available),
    encodeAmountsAsText: compileEncode(withAmountsAsText(nodes), statuses.available),
  }
}

function compileEncode(nodes: ResponseNodes, available: ReadonlySet<string>): ResponseCodec['encode'] {
  return (response, omitted) => print(nodes, response as Readonly<ResponseFields>, available, omitted)
}

function print(
  { list }: ResponseNodes,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string {
  // Text after text: V8 copies each part of a template once more when the response is sent.
  let text = '{'
  for (const node of list) {
    const printed = node.slot ? printSlot(node.slot, fields, available, omitted) : printBelow(node, fields, available, omitted)
    if (printed === undefined) continue
    text += text === '{' ? node.prefix : node.nextPrefix
    text += printed
  }
  return `${text}}`
}

/** The value of a field; undefined if it is omitted. */
function printSlot(
  { field, name, absence, scalar, isEmptyIfNone }: ResponseSlot,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string | undefined {
  const known = fields[field]
  const value = field === 'status' && known !== undefined ? roundDown(known as Status, available) : known
  if (value !== undefined) return scalar.toJson(value)
  if (absence === 'null') return 'null'
  if (isEmptyIfNone) return '""'
  if (absence !== 'extension') omitted.add(name)
  return undefined
}

/** An object, or the list of a field; undefined if the field is unknown. */
function printBelow(
  { fullName, below, of }: ResponseNode,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string | undefined {
  if (!below) {
    omitted.add(fullName)
    return undefined
  }
  if (of === undefined) return print(below, fields, available, omitted)
  const items = fields[of] as readonly ResponseFields[] | undefined
  return items && `[${items.map((item) => print(below, item, available, omitted)).join(',')}]`
}

// Decodes a provider's response by its table.

/** An unknown word as status: the status stays unknown and is never final. */
const unknownStatus = Symbol('unknown status')
const nothing: Given = {}

/** A list inside a row whose items become rows. */
interface Spread {
  readonly nodes: ResponseNodes
  readonly items: readonly JsonValue[]
}

/** An object whose members add to the rows of a list of texts. */
interface Details {
  readonly nodes: ResponseNodes
  readonly members: JsonValue
}

/** A member that says which of the texts of a list are off. */
interface OffFor {
  readonly fields: readonly OfferField[]
  readonly items: readonly JsonValue[]
}

type IdParts = [first: string | undefined, second: string | undefined]

/** A row while it is read. */
interface RowContext extends DecodedRow, Pick<StatusWords, 'meanings' | 'reasons' | 'awaitingOwner' | 'orderPage'> {
  readonly context: DecodeContext
  derived: readonly string[]
  nulls: readonly string[]
  fallbacks: readonly string[]
  awaitsOwner: boolean | undefined
  /** The provider's own word. */
  statusWord: JsonValue | undefined
  /** Of an id that two members have together; undefined where one has it. */
  idParts: IdParts | undefined
  /** Of the lists in the row; undefined as long as there are none. */
  details: Details[] | undefined
  offFor: OffFor[] | undefined
}

const none: readonly string[] = []

function compileDecode(
  nodes: ResponseNodes,
  slots: readonly ResponseSlot[],
  { meanings, reasons, awaitingOwner, orderPage }: StatusWords,
): Pick<ResponseCodec, 'decode' | 'decodeRows'> {
  // All fields in one order, also unknown ones: engines read objects of one shape fastest.
  const blank: Readonly<ResponseFields> = Object.fromEntries(slots.map(({ field }) => [field, undefined]))
  const hasIdParts = slots.some(({ idPart }) => idPart !== undefined)
  const decodeRows: ResponseCodec['decodeRows'] = (value, context, given = nothing) => {
    const fields: ResponseFields = given.fields ? { ...blank, ...given.fields } : { ...blank }
    const unread = {
      ...{ derived: none, nulls: none, fallbacks: none },
      ...{ awaitsOwner: undefined, statusWord: undefined, details: undefined, offFor: undefined },
    }
    const idParts: IdParts | undefined = hasIdParts ? [undefined, undefined] : undefined
    const row: RowContext = { meanings, reasons, awaitingOwner, orderPage, context, fields, idParts, ...unread }
    const spread = readObject(nodes, value, row)
    if (!spread) return [complete(slots, row, given)]
    return spread.items.map((item) => {
      const own: RowContext = { ...row, fields: { ...fields }, idParts: row.idParts && [...row.idParts], details: undefined }
      readObject(spread.nodes, item, own)
      for (const detail of row.details ?? []) readDetail(detail, item, own)
      const off = row.offFor?.filter(({ items }) => items.includes(memberAt(item, ['']) ?? null)) ?? []
      for (const { fields: names } of off) noteOffer(names, false, own.fields)
      return complete(slots, own, given)
    })
  }
  return { decodeRows, decode: (value, context, given) => decodeRows(value, context, given)[0] as DecodedRow }
}

/** A member that is no object says nothing. */
function readDetail({ nodes, members }: Details, item: JsonValue, rowContext: RowContext): void {
  const text = memberAt(item, [''])
  const member = typeof text === 'string' ? memberAt(members, [text]) : undefined
  if (member instanceof JsonObject) readObject(nodes, member, rowContext)
}

function readObject(nodes: ResponseNodes, value: JsonValue, rowContext: RowContext): Spread | undefined {
  if (!(value instanceof JsonObject)) throw new WireError('', 'it must be an object')
  if (value === oversizedRow) throw new WireError('', 'it is longer than 64 KiB')
  // By index: an iterator over the members makes objects, on the hot path. So `as`: `at` is a place in both lists.
  const { keys, values } = value
  let spread: Spread | undefined
  let expected = 0
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string
    const node = findNode(nodes, key, expected)
    if (node) expected = node.index + 1
    const member = values[at] as JsonValue
    if (!node) rowContext.context.drift('_other', 'unknownField', key)
    else if (member === null) noteNull(node, rowContext)
    else if (node.slot) readSlot(node.slot, member, value, rowContext)
    else if (node.offer) readOffer(node.offer, member, rowContext)
    else spread = readBelow(node, member, rowContext) ?? spread
  }
  return spread
}

function noteNull({ slot, below }: ResponseNode, rowContext: RowContext): void {
  for (const { field } of slot ? [slot] : below ? slotsOf(below) : []) rowContext.nulls = [...rowContext.nulls, field]
}

/** Most members are in the order of the table, without some optional ones: a comparison is cheaper than a hash of the name. */
function findNode({ list, byName }: ResponseNodes, name: string, expected: number): ResponseNode | undefined {
  if (list[expected]?.name === name) return list[expected]
  return list[expected + 1]?.name === name ? list[expected + 1] : byName.get(name)
}

/** Reads the objects at a line; a line without objects is skipped. */
function readBelow({ name, below, shape }: ResponseNode, value: JsonValue, rowContext: RowContext): Spread | undefined {
  if (!below) return undefined
  if (shape === 'perItem') {
    rowContext.details = [...(rowContext.details ?? []), { nodes: below, members: value }]
    return undefined
  }
  if (shape === 'inside') return readObject(below, value, rowContext)
  if (!Array.isArray(value)) throw new WireError(name, 'it must be an array')
  if (shape === 'each') return { nodes: below, items: value }
  if (shape === 'eachText') return { nodes: below, items: value.map(asObject) }
  const [first] = value
  if (first === undefined && shape === 'firstIfAny') return undefined
  if (first === undefined) throw new EmptyResponse(name)
  return readObject(below, first, rowContext)
}

/** A member that says neither on nor off says nothing. */
function readOffer({ offer, by, words }: Offer, value: JsonValue, rowContext: RowContext): void {
  const { fields } = rowContext
  if (by === 'flag') {
    const isOn = flagOf(value)
    if (isOn !== undefined) noteOffer(offer, isOn, fields)
  } else if (!Array.isArray(value)) {
    if (by === 'offFor' && flagOf(value) === true) noteOffer(offer, false, fields)
  } else if (by === 'offFor') {
    rowContext.offFor = [...(rowContext.offFor ?? []), { fields: offer, items: value }]
  } else if (value.length > 0) {
    for (const field of offer) noteOffer([field], value.includes(words[field] ?? ''), fields)
  }
}

function flagOf(value: JsonValue): boolean | undefined {
  const word = value instanceof JsonNumber ? value.lexeme : String(value)
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : undefined
}

/** What any line says is off stays off. */
function noteOffer(names: readonly OfferField[], isOn: boolean, fields: ResponseFields): void {
  for (const name of names) fields[name] = isOn && fields[name] !== false
}

/** The item of a list of texts, as the object that its line is for. */
function asObject(text: JsonValue): JsonObject {
  const object = new JsonObject()
  object.keys.push('')
  object.values.push(text)
  return object
}

/** `object`: the one that has the member. */
function readSlot(slot: ResponseSlot, value: JsonValue, object: JsonObject, rowContext: RowContext): void {
  const { field, isFallback, isZeroNone, isForClients, showsDeposit, idPart } = slot
  const { meanings, context, fields: row } = rowContext
  if (isForClients) return
  if (field === 'status') {
    row.status = readStatus(slot, value, object, meanings, context)
    rowContext.statusWord = value
  } else if (rowContext.idParts && idPart !== undefined) {
    rowContext.idParts[idPart] = readValue(slot, value, context) as string | undefined
  } else if (field === 'maxAmount' && isNoMaximum(value)) return
  else if (isFallback && row[field] !== undefined) return
  else if (isZeroNone && (value === '' || isZeroAmount(value))) return
  else if (!isNothing(slot, value)) {
    row[field] = readValue(slot, value, context)
    if (isFallback) rowContext.fallbacks = [...rowContext.fallbacks, field]
    if (showsDeposit) row.hasDeposit = true
  }
}

/** An empty text in an optional field means that there is none. */
function isNothing({ field, absence, mayBeEmpty, scalar }: ResponseSlot, value: JsonValue): boolean {
  if (scalar.isNone?.(value)) return true
  if (value === '' && amountBounds.has(field)) return true
  return value === '' && absence !== 'required' && !mayBeEmpty && scalar !== responseScalars.amount
}

/** Without one there is no such limit, whatever the form promises its clients. */
const amountBounds: ReadonlySet<string> = new Set(['minAmount', 'maxAmount'])

/** Words of programs for "no maximum": a negative number, and the largest one that they know. */
function isNoMaximum(value: JsonValue): boolean {
  const text = value instanceof JsonNumber ? value.lexeme : value
  return typeof text === 'string' && /^-?\d/.test(text) && (Number(text) < 0 || Number(text) >= 1e41)
}

/** Texts that some providers write as numbers. */
const numericTexts: ReadonlySet<string> = new Set(['id', 'depositExtraId', 'withdrawalExtraId', 'refundExtraId'])

function readValue({ field, name, scalar }: ResponseSlot, value: JsonValue, context: DecodeContext): unknown {
  const read = scalar.fromJson(value)
  if (read !== undefined) return read
  if (value instanceof JsonNumber && /^\d+$/.test(value.lexeme)) {
    const text = scalar === responseScalars.date ? timestampOf(value.lexeme) : numericTexts.has(field) ? value.lexeme : undefined
    const known = text === undefined ? undefined : scalar.fromText(text)
    if (known !== undefined) {
      context.drift(name, 'textAsNumber')
      return known
    }
  }
  if (scalar === responseScalars.amount && typeof value === 'string') {
    context.drift(name, 'numberAsText')
    const number = scalar.fromText(value)
    if (number !== undefined) return number
  }
  if (!scalar.isLenient) throw new WireError(name, `it must be ${scalar.must}`)
  context.drift(name, 'implausible')
  return undefined
}

/** The configuration may map words outside the form, and those that the form itself maps to another one. */
function readStatus(
  slot: ResponseSlot,
  value: JsonValue,
  object: JsonObject,
  meanings: ReadonlyMap<string, StatusMeaning>,
  context: DecodeContext,
): StatusWord | typeof unknownStatus {
  if (typeof value !== 'string') throw new WireError(slot.name, `it must be ${slot.scalar.must}`)
  const own = meanings.get(value)
  const known = own === value && !isAttention(own) ? own : (context.statuses.get(value) ?? own)
  if (known) return meaningIn(object, known)
  context.drift(slot.name, 'unknownStatus', value)
  return unknownStatus
}

function meaningIn(object: JsonObject, meaning: StatusMeaning): StatusWord {
  if (typeof meaning === 'string') return meaning
  const { member: path, present, words = {}, otherwise } = meaning
  const member = memberAt(object, path.split('.'))
  const word = member instanceof JsonNumber ? member.lexeme : String(member)
  if (Object.hasOwn(words, word)) return words[word] ?? otherwise
  return present !== undefined && isPresent(member) ? present : otherwise
}

function complete(slots: readonly ResponseSlot[], rowContext: RowContext, { assumed, mayLack }: Given): DecodedRow {
  const { fields: row } = rowContext
  if (rowContext.idParts) row.id = joinId(rowContext.idParts, assumed?.id)
  for (const field in assumed) {
    if (row[field] !== undefined || assumed[field] === undefined) continue
    row[field] = assumed[field]
    rowContext.derived = [...rowContext.derived, field]
  }
  for (const slot of slots) {
    if (row[slot.field] === undefined) requireAbsence(slot, row, mayLack)
    else if (slot.deductedFrom !== undefined) deduct(slot, rowContext)
  }
  if (typeof rowContext.statusWord === 'string') moveRefund(slots, rowContext.statusWord, row)
  if (row.status === unknownStatus) {
    row.attention = 'unknown_status'
    row.status = undefined
  } else if (isAttention(row.status)) {
    row.attention = row.status
    row.status = 'exchanging'
    row.statusReason ??= impliedReasonOf(slots, rowContext)
  }
  if (rowContext.awaitingOwner && typeof rowContext.statusWord === 'string')
    rowContext.awaitsOwner = row.attention === 'held' && rowContext.awaitingOwner.has(rowContext.statusWord)
  if (rowContext.orderPage !== undefined && typeof row.id === 'string')
    row.supportUrl ??= orderPageOf(rowContext.orderPage, row.id, slots)
  return rowContext
}

/** `requested`: the id of a get, whose second part a provider need not repeat. */
function joinId([first, reported]: Readonly<IdParts>, requested: unknown): string {
  const second = reported ?? partOfId(String(requested ?? ''), 1)
  const id = `${first}.${second}`
  if (first === undefined || second === undefined || !isTransactionId(id)) throw new WireError('id', 'a part of it is missing')
  return id
}

/** People know a swap by the first part of its id. */
function orderPageOf(page: string, id: string, slots: readonly ResponseSlot[]): string {
  const isInParts = slots.some(({ idPart }) => idPart !== undefined)
  const known = (isInParts && partOfId(id, 0)) || id
  return page.replace('{id}', encodeURIComponent(known.toWellFormed()))
}

/** What a provider has as the hash of the payout is that of the refund, if it sends the deposit back. */
function moveRefund(slots: readonly ResponseSlot[], statusWord: string, row: ResponseFields): void {
  for (const { field, refundWords } of slots) {
    if (!refundWords?.includes(statusWord)) continue
    row.refundHash ??= row[field]
    row[field] = undefined
  }
}

/** By a member that is there, or by the word of the status. */
function impliedReasonOf(slots: readonly ResponseSlot[], { fields, reasons, statusWord }: RowContext): StatusReason | undefined {
  const implying = slots.find(({ field, impliedReason }) => impliedReason !== undefined && fields[field] !== undefined)
  return implying?.impliedReason ?? reasons?.get(String(statusWord))
}

function deduct({ field, name, deductedFrom = '' }: ResponseSlot, rowContext: RowContext): void {
  const { fields: row } = rowContext
  const deduction = row[field] as Amount
  row[field] = undefined
  if (row[deductedFrom] === undefined || isZero(deduction)) return
  const rest = multiplySubtract(row[deductedFrom] as Amount, one, deduction)
  if (compareAmounts(deduction, zero) < 0 || compareAmounts(rest, zero) < 0)
    throw new WireError(name, 'it is no part of the amount')
  row[deductedFrom] = rest
  rowContext.derived = [...rowContext.derived, deductedFrom]
}

function requireAbsence(slot: ResponseSlot, response: Readonly<ResponseFields>, mayLack: string | undefined): void {
  const mayBeAbsent =
    amountBounds.has(slot.field) || slot.field === mayLack || (slot.when ? slot.when(response) : slot.absence !== 'required')
  if (!mayBeAbsent) throw new WireError(slot.name, 'it is missing')
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
