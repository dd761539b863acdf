/** Tables: which wire name carries which domain field, and what is written if the field is unknown. */

import type { StatusReason, StatusWord } from '../domain/status.ts'
import type { CoinOffer } from '../domain/swap.ts'
import { JsonObject, type JsonValue } from './json.ts'
import {
  asPresence,
  asText,
  type IdPart,
  inCommas,
  inIdPart,
  inLowerCase,
  inReasons,
  inWords,
  inZone,
  type ReasonWords,
  type ScalarFormat,
  saysNothing,
  type UnixUnit,
  unixTime,
  type Words,
} from './scalar.ts'

/** What is written if a field is unknown: nothing, `null`, or nothing without a report of omission. */
type Absence = 'required' | 'omitted' | 'null' | 'extension'

export interface TableColumn<Field extends string = string> {
  readonly field: Field
  readonly absence: Absence
  /** In a response: the field may be absent only where this holds. */
  readonly when?: (response: Readonly<Record<string, unknown>>) => boolean
  /** In a response: an empty text is a value, not the absence of one. */
  readonly mayBeEmpty?: true
  /** In a request: the default. A provider always gets it explicitly. */
  readonly defaultValue?: string | number
  /** The format of the value, if not the default of its field. */
  readonly format?: ScalarFormat
  /** In a response: an amount of 0 means that there is none. */
  readonly isZeroNone?: true
  /** In a response: used only if no other line of the table has the field. */
  readonly isFallback?: true
  /** In a response: this amount is subtracted from that field, exactly. */
  readonly deductedFrom?: string
  /** In a response: written, and never read: what a provider says there is its own. */
  readonly isForClients?: true
  /** In a response: with one of these words as its status it is about what came back: not the payout, but the refund. */
  readonly refundWords?: readonly string[]
  /** In a response: there is none before the deposit was seen. */
  readonly showsDeposit?: true
  /** In a response: while the swap is held or has failed, its presence means this reason, if no other line has one. */
  readonly impliedReason?: StatusReason
  /** The member has only this part of the id: 0 is what is before its first dot, 1 what is after that. */
  readonly idPart?: IdPart
  /** In a request: an empty text if there is none. */
  readonly isEmptyIfNone?: true
  /** In a client's request: exactly one of the lines with this is given. */
  readonly isOneOf?: true
  /** Of such a line: it counts alone where another one is given with the same amount. */
  readonly countsIfEqual?: true
}

/** A bare field name is always on the wire. */
export type Table<Field extends string = string> = Readonly<Record<string, Field | TableColumn<Field>>>

/** A table with nested objects, for the requests and responses of real APIs. */
export interface ResponseTree<Field extends string = string> {
  readonly [name: string]: ResponseLine<Field>
}
export interface RequestTree<Field extends string = string> {
  readonly [name: string]: RequestLine<Field>
}
type ResponseLine<Field extends string = string> =
  | Field
  | TableColumn<Field>
  | Unused
  | Offer
  | Inside<ResponseTree<Field>>
  | First<ResponseTree<Field>>
  | Each<ResponseTree<Field>>
  | PerItem<ResponseTree<Field>>
type RequestLine<Field extends string = string> = Field | TableColumn<Field> | Constant | Setting | Inside<RequestTree<Field>>

/** An object in the place of a value. */
export interface Inside<Tree> {
  readonly inside: Tree
}
/** In a response: a list whose first item is used. */
export interface First<Tree> {
  readonly first: Tree
  /** An empty list has no item; else it is an error. */
  readonly mayBeEmpty?: true
}
/** In a row of a response: a list. Each item becomes a row, with the fields beside the list. */
export interface Each<Tree> {
  readonly each: Tree
  /** The items are texts: each is the value of the only line, whose name is empty. */
  readonly isText?: true
  /** If the response is encoded: the field with the items. If it is unknown, there is no list. */
  readonly of?: string
}
/** In a row of a response, beside a list of texts: an object with a member for some of them. It adds to the row of its item. */
interface PerItem<Tree> {
  readonly perItem: Tree
}
/** In a row of a list: what the provider offers of it. Several lines may speak of one field: it is off if any of them says so. */
export interface Offer {
  readonly offer: readonly OfferField[]
  /** How the member says it: `flag`: true or 1 is on. `offFor`: true is off, a list is off for its items. `words`: on if it has the word. */
  readonly by: 'flag' | 'offFor' | 'words'
  /** The word of each field. */
  readonly words: Readonly<Partial<Record<OfferField, string>>>
}
export type OfferField = keyof CoinOffer & string
/** A known name without a field: no drift when decoded, reported as omitted when encoded. */
interface Unused {
  readonly unused: true
}
/** In a request: a constant. */
interface Constant {
  readonly always: string | number | boolean
}
/** In a request: a value from the configuration (`providers.<name>.settings`). */
export interface Setting {
  readonly setting: string
  /** Left out where the configuration has none; undefined if the form requires it. */
  readonly optional?: SettingKind
}
/** How a setting is written in a body. The configuration has it as text; an object is JSON there. */
export type SettingKind = 'text' | 'number' | 'object'

export type Method = 'GET' | 'POST'

/** Of one operation. */
export interface OperationTables {
  readonly at: `${Method} ${string}`
  readonly success: number
  readonly request: Table
  readonly response: ResponseTree
  /** Of a question: the response has rows of this table, as a bare list, or as a page of the form. Absent: it is one object. */
  readonly rows?: 'list' | 'page' | undefined
  /** Fields that a provider may add to its response: they are verified, and clients do not get them. */
  readonly addedByProvider?: Table
}

/** May be absent or null; left out if unknown. */
export function optional<const Field extends string>(field: Field, when?: NonNullable<TableColumn['when']>): TableColumn<Field> {
  return { field, absence: 'omitted', ...(when && { when }) }
}

/** The same for a text that may be empty. */
export function optionalText<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'omitted', mayBeEmpty: true }
}

/** May be absent or null; null if unknown. */
export function orNull<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'null' }
}

/** A field beyond the form, carried end to end; null and `""` mean none. */
export function extension<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'extension' }
}

/** The same, but only the gateway's own word counts: what a provider has there is not read. */
export function forClients<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'extension', isForClients: true }
}

/** In a request: `defaultValue` if the field is absent. */
export function withDefault<const Field extends string>(field: Field, defaultValue: string | number): TableColumn<Field> {
  return { field, absence: 'required', defaultValue }
}

/** In a client's request: exactly one of these lines must be given. */
export function oneOf<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'omitted', isOneOf: true }
}

/** The same. Where both are given with the same amount, this line is meant. */
export function oneOfOrBoth<const Field extends string>(field: Field): TableColumn<Field> {
  return { ...oneOf(field), countsIfEqual: true }
}

export function toColumn<Field extends string>(line: Field | TableColumn<Field>): TableColumn<Field> {
  return typeof line === 'string' ? { field: line, absence: 'required' } : line
}

export function fieldsOf(tree: ResponseTree | RequestTree): ReadonlySet<string> {
  return new Set(columnsOf(tree).map(({ field }) => field))
}

/** All columns at any depth. */
function columnsOf(tree: ResponseTree | RequestTree): readonly TableColumn[] {
  return Object.values(tree).flatMap((line): readonly TableColumn[] => {
    if (typeof line === 'string' || 'field' in line) return [toColumn(line)]
    if ('offer' in line) return line.offer.map((field: OfferField) => optional(field))
    const below = treeBelow(line)
    return below ? columnsOf(below) : []
  })
}

function treeBelow(line: Exclude<ResponseLine | RequestLine, string | TableColumn>): ResponseTree | RequestTree | undefined {
  if ('inside' in line) return line.inside
  if ('first' in line) return line.first
  if ('perItem' in line) return line.perItem
  return 'each' in line ? line.each : undefined
}

// The lines of a table that real APIs need beside plain columns. Each wraps a field, or a line of its own.

type Line<Field extends string> = Field | TableColumn<Field>

/** An object in the place of a value. */
export function inside<const Tree extends ResponseTree | RequestTree>(tree: Tree): Inside<Tree> {
  return { inside: tree }
}

/** The same, but an empty list has none. */
export function firstIfAny<const Tree extends ResponseTree>(tree: Tree): First<Tree> {
  return { first: tree, mayBeEmpty: true }
}

/** A list whose first item is used. An empty list is an error. */
export function first<const Tree extends ResponseTree>(tree: Tree): First<Tree> {
  return { first: tree }
}

/** A list in a row: each item becomes a row, with the fields beside the list. Items that are texts are values of a field. */
export function each<const Tree extends ResponseTree>(items: Tree): Each<Tree>
export function each<const Field extends string>(items: Field): Each<{ readonly '': Field }>
export function each(items: ResponseTree | string): Each<ResponseTree> {
  return typeof items === 'string' ? { each: { '': items }, isText: true } : { each: items }
}

/** Beside a list of texts: an object whose members belong to its items, by name. */
export function perItem<const Tree extends ResponseTree>(tree: Tree): PerItem<Tree> {
  return { perItem: tree }
}

/** In a row of a list of currencies: true or 1 means that all of this is on, false or 0 that it is off. Anything else says nothing. */
export function isOn(...offer: readonly OfferField[]): Offer {
  return { offer, by: 'flag', words: {} }
}

/** The same for a member that is true where all of this is off, or a list of texts: those beside which it is off. */
export function isOffFor(...offer: readonly OfferField[]): Offer {
  return { offer, by: 'offFor', words: {} }
}

/** The same for a list of words: each field is on if its word is among them. An empty list says nothing. */
export function hasWords(words: Offer['words']): Offer {
  return { offer: Object.keys(words) as OfferField[], by: 'words', words }
}

type ListField = 'networks' | 'complaints' | 'rateTypes' | 'rates' | 'failures'

/** A list in a response to a client: the items of this field. */
export function listOf<const Tree extends ResponseTree>(field: ListField, tree: Tree): Each<Tree> {
  return { each: tree, of: field }
}

/** A known name without a field: no drift when read, reported as omitted when written. */
export const unused: Unused = { unused: true }

/** Several of them: `...unusedNames('comment', 'email')`. */
export function unusedNames<const Name extends string>(...names: readonly Name[]): Readonly<Record<Name, Unused>> {
  return Object.fromEntries(names.map((name) => [name, unused])) as Record<Name, Unused>
}

/** Always the same in a request. */
export function always(value: Constant['always']): Constant {
  return { always: value }
}

/** A value from the configuration: `providers.<name>.settings.<name>`. A missing one is a configuration error. */
export function setting(name: string): Setting {
  return { setting: name }
}

/** The same, left out of the request where the configuration has none, or an empty one. */
export function optionalSetting(name: string, kind: SettingKind = 'text'): Setting {
  return { setting: name, optional: kind }
}

/** In a request: several values, with commas between them. */
export function several<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), format: inCommas }
}

/** A number that is written as text. */
export function text<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), format: asText }
}

/** The provider's words for a value. If there are several, the first is written. */
export function words<const Field extends string>(line: Line<Field>, meanings: Words): TableColumn<Field> {
  return { ...toColumn(line), format: inWords(meanings) }
}

/** Written in lower case, read in any. */
export function lowerCase<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), format: inLowerCase }
}

/** A count since 1970, in seconds by default (`unit`). In a response the unit follows from its magnitude. */
export function unix<const Field extends string>(line: Line<Field>, unit: UnixUnit = 's'): TableColumn<Field> {
  const known = toColumn(line)
  return { ...known, format: unixTime(unit, known.field === 'dateTo' ? 'last' : 'first') }
}

/** A timestamp without zone, in this zone. */
export function zoned<const Field extends string>(line: Line<Field>, zone: Parameters<typeof inZone>[0]): TableColumn<Field> {
  return { ...toColumn(line), format: inZone(zone) }
}

/** An amount of 0, or an empty text, means that there is none. */
export function zeroIsNone<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), absence: 'omitted', isZeroNone: true }
}

/** Used only where no other line of the table has the field. */
export function fallback<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), isFallback: true }
}

/** Why a swap does not go on or was sent back, by the provider's words; any other word is `other`. False, 0 and nothing are none. */
export function reason(words: ReasonWords): TableColumn<'statusReason'> {
  return { field: 'statusReason', absence: 'omitted', format: inReasons(words) }
}

/** A member that is there once the provider has seen the deposit. */
export const depositSeen: TableColumn<'hasDeposit'> = { field: 'hasDeposit', absence: 'omitted', format: asPresence }

/** An amount that is there only once the provider has seen the deposit. */
export function deposited<const Field extends string>(field: Field): TableColumn<Field> {
  return { field, absence: 'required', showsDeposit: true }
}

/** A page for the user of a swap that is held for this reason. */
export function pageFor(impliedReason: StatusReason): TableColumn<'supportUrl'> {
  return { field: 'supportUrl', absence: 'omitted', impliedReason }
}

/** The hash of the payout; with one of these words as its status, that of the refund. */
export function payoutOrRefund(...refundWords: readonly string[]): TableColumn<'txHashOut'> {
  return { field: 'txHashOut', absence: 'omitted', refundWords }
}

/** One of two members that name a swap together: the id of clients has both, with a dot between them. The first has no dot. */
export function idPart(part: IdPart): TableColumn<'id'> {
  return { field: 'id', absence: 'required', idPart: part, format: inIdPart(part) }
}

/** An amount that is subtracted from the amount received, exactly. The difference is reported as derived. */
export const deduction: TableColumn<'deduction'> = { field: 'deduction', absence: 'omitted', deductedFrom: 'amountOut' }

/** An optional memo or tag that must be sent as an empty text if there is none. */
export function emptyIfNone<const Field extends string>(line: Line<Field>): TableColumn<Field> {
  return { ...toColumn(line), absence: 'extension', isEmptyIfNone: true }
}

/** The meaning of a provider's status where a member beside the status is present, or has one of these words. */
export interface StatusByMember {
  /** The path of the member, from the object that has the status: names joined by dots. */
  readonly member: string
  /** The meaning if the member is there: neither null, nor false, nor 0, nor an empty text, list or object. */
  readonly present?: StatusWord
  /** The meanings of its words. */
  readonly words?: Readonly<Record<string, StatusWord>>
  readonly otherwise: StatusWord
}

export type StatusMeaning = StatusWord | StatusByMember

/** The meaning of a status that depends on another member: `byMember('return_hash', { present: 'refunded', otherwise: 'exchanging' })`. */
export function byMember(member: string, meanings: Omit<StatusByMember, 'member'>): StatusByMember {
  return { member, ...meanings }
}

/** Whether the member says anything: null, false, 0, and an empty text, list or object do not. */
export function isPresent(member: JsonValue | undefined): boolean {
  return member !== undefined && !saysNothing(member)
}

/** The member at a path of names. Of a list the first item is taken. Undefined if there is none. */
export function memberAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let member = value
  for (const name of path) {
    if (Array.isArray(member)) member = member[0]
    if (!(member instanceof JsonObject)) return undefined
    member = member.get(name)
  }
  return member
}
