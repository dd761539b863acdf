/** How a provider refuses requests: the places of its reasons, limits and codes in a body. */
import { type Amount, isZero, toAmount } from '../domain/amount.ts'
import type { AmountRange, FaultKind, Reason } from '../domain/fault.ts'
import { JsonNumber, JsonObject, type JsonValue } from './json.ts'
import { isPresent, memberAt } from './table.ts'

/** The patterns that search a message may take quadratic time. */
const maxMessageLength = 4_096

/** The meaning of a provider's code for the client's request. */
export interface RefusalMeaning {
  readonly kind: FaultKind
  readonly reason?: Reason
  /** Whether the amount is outside of limits that the response may lack. */
  readonly isAboutAmount?: true
  /** Whether a create may exist: the provider has what is requested already. */
  readonly mayExist?: true
  /** Whether the quote that the gateway requested for this create does not hold any more. */
  readonly isQuoteExpired?: true
  /** Seconds to wait where `Retry-After` is missing. */
  readonly retryAfter?: number
}

/** What a message means. */
interface TextMeaning {
  readonly matches: RegExp
  readonly meaning: RefusalMeaning
  /** Which bound of the amount the first group of the expression is. */
  readonly bound?: keyof Pick<AmountRange, 'minAmount' | 'maxAmount'>
}

/** Paths are names joined by dots. Of a list the first item is taken. */
export interface RefusalTable {
  /** Places of a reason in plain text before those of frameworks, the best first: a text, or an object or list of texts. */
  readonly messages?: readonly string[]
  /** Possible places of the amount's bounds. `areBoth`: clients get neither without the other. */
  readonly amountRange?: { readonly min: readonly string[]; readonly max: readonly string[]; readonly areBoth?: true }
  /** Whether a refusal for the amount may say so in its message only, without a limit and a code. */
  readonly mayHideAmountRange?: true
  /** The place of the code, and what the codes mean. A number counts as its digits. `byText`: what a code means with such a message. */
  readonly codes?: {
    readonly at: string
    readonly meanings: Readonly<Record<string, RefusalMeaning>>
    readonly byText?: Readonly<Record<string, readonly TextMeaning[]>>
  }
  /** What its message means, if there is no known code: the first whose expression matches counts. */
  readonly texts?: readonly TextMeaning[]
  /** The meaning of a member's presence, if neither a code nor the message has one. */
  readonly members?: Readonly<Record<string, RefusalMeaning>>
  /** The meaning of its HTTP status, if nothing in the body has one. 429 is always a limit. */
  readonly statuses?: Readonly<Record<number, RefusalMeaning>>
  /** What a message all says about an expired quote of the gateway, where no code does: only whether to request another one depends on it. */
  readonly expiredQuote?: readonly RegExp[]
  /** Members of which each makes a response with a status of success a refusal, if it is there and neither 0 nor empty. */
  readonly presentIn200?: readonly string[]
  /** The place of the error status: beside a message, it makes a response with a status of success a refusal with that status. */
  readonly statusIn200?: string
}

/** A refusal, read from a body. */
export interface Refusal {
  readonly message: string
  readonly amountRange: AmountRange
  /** Those that a message may end with. */
  readonly reportedRange: AmountRange
  readonly meaning: RefusalMeaning | undefined
  readonly isQuoteExpired: boolean
  /** Whether it is as the form has its errors. Otherwise something in front of the provider may have written it. */
  readonly isOfForm: boolean
}

/** A body that is no object says nothing: a list may be the responses to something else. */
export function readRefusal(table: RefusalTable, status: number, response: JsonValue | undefined): Refusal {
  const { messages = [], amountRange, codes, texts = [], members = {}, statuses = {}, expiredQuote } = table
  const body = response instanceof JsonObject ? response : undefined
  const code = codes && textOf(firstOf(at(body, codes.at)))
  const message = (firstMessage(body, messages) || firstMessage(body, frameworkMessages)).slice(0, maxMessageLength)
  const says = ({ matches }: TextMeaning): boolean => matches.test(message)
  const ofCode = code === undefined ? undefined : ownMember(codes?.byText, code)?.find(says)
  const known = { minAmount: firstAmount(body, amountRange?.min), maxAmount: firstAmount(body, amountRange?.max) }
  const isHalf = known.minAmount === undefined || known.maxAmount === undefined
  const ofBody =
    ofCode?.meaning ??
    (code === undefined ? undefined : ownMember(codes?.meanings, code)) ??
    texts.find(says)?.meaning ??
    Object.entries(members).find(([path]) => isPresent(at(body, path)))?.[1]
  const meaning = ofBody ?? statuses[status]
  return {
    message,
    amountRange: { ...known, ...boundIn(message, ofCode) },
    reportedRange: isHalf && amountRange?.areBoth ? {} : known,
    meaning,
    isQuoteExpired: meaning?.isQuoteExpired ?? expiredQuote?.every((word) => word.test(message)) ?? false,
    isOfForm: ofBody !== undefined || code !== undefined || hasFormsParts(table, body),
  }
}

/** The member that makes it a refusal, or a reason as a text with the status, where the form has one. */
function hasFormsParts(table: RefusalTable, body: JsonObject | undefined): boolean {
  const { presentIn200 = [], statusIn200, messages = ['message', 'error'] } = table
  if (presentIn200.some((path) => isPresent(at(body, path)))) return true
  if (statusIn200 !== undefined && errorStatus(body, statusIn200) === undefined) return false
  return messages.some((path) => typeof at(body, path) === 'string')
}

function errorStatus(body: JsonValue | undefined, path: string): number | undefined {
  const status = textOf(at(body, path))
  return status !== undefined && /^[45][0-9]{2}$/.test(status) ? Number(status) : undefined
}

function ownMember<Value>(members: Readonly<Record<string, Value>> = {}, name: string): Value | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

function boundIn(message: string, { matches, bound }: Partial<TextMeaning> = {}): AmountRange {
  const amount = bound && toAmount(matches?.exec(message)?.[1] ?? '')
  return amount && !isZero(amount) ? { [bound]: amount } : {}
}

/** Where frameworks put a reason: NestJS, FastAPI, Django, Rails, Laravel, JSON:API, RFC 9457. The more specific ones first. */
const frameworkMessages = ['message', 'detail', 'errors', 'error', 'title']

function firstMessage(body: JsonObject | undefined, paths: readonly string[]): string {
  return paths.map((path) => messageIn(at(body, path))).find((message) => message !== '') ?? ''
}

/** The error status of a response with a status of success; undefined if it is no refusal. 200: a refusal that names no status. */
export function refusedStatusIn200(
  { presentIn200 = [], statusIn200, messages = [] }: RefusalTable,
  body: JsonValue,
): number | undefined {
  if (presentIn200.some((path) => isPresent(at(body, path)))) return 200
  if (statusIn200 === undefined || !messages.some((path) => typeof at(body, path) === 'string')) return undefined
  return errorStatus(body, statusIn200)
}

function at(body: JsonValue | undefined, path: string): JsonValue | undefined {
  return memberAt(body, path.split('.'))
}

const messageNames = ['message', 'msg', 'detail', 'title']

/** Nested texts, in their order. Of an object with a message only that. Deeper ones than a list of texts by field are not read. */
function messageIn(value: JsonValue | undefined, depth = 0): string {
  if (typeof value === 'string') return value.trim()
  if (depth > 2) return ''
  if (value instanceof JsonObject) {
    const own = messageNames.map((name) => value.get(name)).find((text) => typeof text === 'string' && text.trim() !== '')
    if (typeof own === 'string') return own.trim()
  }
  const members = Array.isArray(value) ? value : value instanceof JsonObject ? value.values : []
  return members
    .map((member) => messageIn(member, depth + 1))
    .filter((text) => text !== '')
    .join(' ')
}

function firstAmount(body: JsonValue | undefined, paths: readonly string[] = []): Amount | undefined {
  return paths
    .map((path) => textOf(at(body, path)))
    .map((text) => (text === undefined ? undefined : toAmount(text)))
    .find((amount) => amount !== undefined && !isZero(amount))
}

function firstOf(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) ? value[0] : value
}

function textOf(value: JsonValue | undefined): string | undefined {
  const text = value instanceof JsonNumber ? value.lexeme : value
  return typeof text === 'string' ? text : undefined
}
