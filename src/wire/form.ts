/** A form is data: tables and a header. It does not depend on another form, nor on the edge that uses it. */

import type { Amount } from '../domain/amount.ts'
import type { StreamName } from '../domain/event-stream.ts'
import { type AnswerItem, keyedQuestions, type Question, type Questions, questionNames } from '../domain/question.ts'
import { type Capabilities, forEachOp, keyed, type Op, type Operations, paged, type Row } from '../domain/service.ts'
import type { Status } from '../domain/status.ts'
import type { CurrencyNetwork } from '../domain/swap.ts'
import type { Credential } from './credential.ts'
import { type ExtraIdNames, renameExtraIds } from './extra-ids.ts'
import type { ClientEnvelope } from './page.ts'
import { compileEndpoint, compileRequest, type PathPattern, type RequestCodec } from './request.ts'
import { compileResponse, type StatusWords } from './response.ts'
import type { ResponseCodec } from './response-nodes.ts'
import {
  type Each,
  type First,
  fieldsOf,
  type Inside,
  type Method,
  type OperationTables,
  type ResponseTree,
  type Table,
  type TableColumn,
} from './table.ts'

type RequestOf<O extends Op> = Operations[O]['request']
/** A form may lack the amount that is to be received, but not that which is sent. */
type BySent<Request> = [Extract<Request, { readonly amountIn: Amount }>] extends [never]
  ? Request
  : Extract<Request, { readonly amountIn: Amount }>

type FieldOf<Line> = Line extends string
  ? Line
  : Line extends TableColumn<infer Field>
    ? Field
    : Line extends Inside<infer Tree> | First<infer Tree> | Each<infer Tree>
      ? Named<Tree>
      : never
/** The fields of a table, at any depth. */
export type Named<Tree> = { [Name in keyof Tree]: FieldOf<Tree[Name]> }[keyof Tree]
type RequiredField<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]
/** Does not compile if a table lacks a field that the domain always has. */
export type Covers<Fields, T> = [Exclude<RequiredField<Fields>, Named<T>>] extends [never]
  ? unknown
  : { readonly missing: Exclude<RequiredField<Fields>, Named<T>> }

/** Fields of the items of a list in a row. */
type ItemField = keyof CurrencyNetwork

/** The tables of one operation: its path, its request and its response (or an item of its page). */
export function operation<O extends Op>() {
  return <
    const A extends Table<keyof RequestOf<O> & string>,
    const R extends ResponseTree<(keyof Row<O> & string) | ItemField>,
  >(tables: {
    readonly at: `${Method} ${string}`
    readonly success: number
    readonly request: A & Covers<BySent<RequestOf<O>>, A>
    readonly response: R & Covers<Row<O>, R>
    readonly addedByProvider?: Table<keyof Row<O> & string>
  }): OperationTables => tables
}

type FieldsOf<T> = T extends unknown ? keyof T & string : never

/** The tables of a question to the gateway itself. */
export function question<Q extends Question>() {
  return <
    const A extends Table<keyof Questions[Q]['request'] & string>,
    const R extends ResponseTree<(keyof Questions[Q]['response'] & string) | FieldsOf<AnswerItem>>,
  >(tables: {
    readonly at: `${Method} ${string}`
    readonly success: number
    readonly request: A & Covers<BySent<Questions[Q]['request']>, A>
    readonly response: R
    readonly rows?: OperationTables['rows']
  }): OperationTables => tables
}

/** Members of an error body: the status's reason phrase, the message, the status, an object with what is wrong with each parameter. */
export type ErrorTable = Readonly<Record<string, 'reason' | 'message' | 'status' | 'byField'>>

/** The response to a quote or create whose amount is refused, if the form has one of its own. */
export interface AmountRefusalTable {
  readonly status: number
  readonly body: Readonly<Record<string, 'amountIn' | 'zero' | 'message' | 'minAmount' | 'maxAmount' | 'receivedMin'>>
}

export interface FormTables {
  /** The value of `X-Swap-Form`; in lower case, the mount. */
  readonly name: string
  readonly credential: Credential
  /** In the domain's own words, which are those of Forms A and B. One that a form lacks is shown as the step before it. */
  readonly statuses: readonly Status[]
  /** Whether its transactions are listed newest creation first. */
  readonly newestFirst: boolean
  /** Whether its transactions have the expected amount before it is received. */
  readonly hasExpectedAmount: boolean
  readonly page: ClientEnvelope
  readonly error: ErrorTable
  readonly amountRefusal?: AmountRefusalTable
  /** Whether a key of its own header chooses it on the bare mount. Default: yes. */
  readonly isChosenByKey?: boolean
  /** The member of a body, and with the operator's leave of a query, that may have the key in place of the header. No field has it. */
  readonly keyMember?: string
  /** Whether its clients know `Idempotency-Key`, so that one can be required of them. Default: yes. */
  readonly hasIdempotencyKey?: boolean
  /** Whether an empty parameter of a list means that there is none, as it does elsewhere. Default: it is refused. */
  readonly takesEmptyParameters?: boolean
  readonly operations: Readonly<Record<Op, OperationTables>>
  /** Whether it has streams of changes, below its path of a transaction. Default: no. */
  readonly hasStreams?: boolean
  /** Those that it has. */
  readonly questions?: Readonly<Partial<Record<Question, OperationTables>>>
}

/** What a method and a path lead to. */
export interface EndpointCodec {
  readonly method: Method
  readonly path: PathPattern
  readonly success: number
  readonly keyed: boolean
  readonly requestCodec: RequestCodec
  readonly responseCodec: ResponseCodec
  /** Wire names of the request's fields, by domain field. */
  readonly requestNames: ReadonlyMap<string, string>
  readonly responseNames: ReadonlyMap<string, string>
}

export interface OperationCodec extends EndpointCodec {
  readonly op: Op
  readonly paged: boolean
  /** Whether a row that does not match the form is dropped; otherwise the page fails (docs/contract-operators.md §8). */
  readonly dropsBadRows: boolean
}

export interface QuestionCodec extends EndpointCodec {
  readonly question: Question
  readonly rows: OperationTables['rows']
}

/** Changes of one transaction, or of all of an account: each as a get has it. */
export interface StreamCodec extends EndpointCodec {
  readonly stream: StreamName
}

export type Endpoint = OperationCodec | QuestionCodec | StreamCodec

/** The name of an operation, of a question or of a stream. */
export function nameOf(endpoint: OperationCodec): Op
export function nameOf(endpoint: OperationCodec | QuestionCodec): Op | Question
export function nameOf(endpoint: Endpoint): Op | Question | StreamName
export function nameOf(endpoint: Endpoint): Op | Question | StreamName {
  if ('stream' in endpoint) return endpoint.stream
  return 'op' in endpoint ? endpoint.op : endpoint.question
}

export interface Form {
  readonly name: string
  readonly credential: Credential
  readonly statuses: readonly Status[]
  readonly capabilities: Capabilities
  readonly page: ClientEnvelope
  readonly error: ErrorTable
  readonly amountRefusal: AmountRefusalTable | undefined
  readonly isChosenByKey: boolean
  /** Undefined: only the header has the key. */
  readonly keyMember: string | undefined
  readonly hasIdempotencyKey: boolean
  readonly operations: Readonly<Record<Op, OperationCodec>>
  readonly questions: readonly QuestionCodec[]
  /** Empty in a form without streams. */
  readonly streams: readonly StreamCodec[]
  /** The same form of a provider that has other names for memos and tags. */
  readonly withExtraIdNames: (names: ExtraIdNames) => Form
  /** The same form with words that are no statuses of the service, as some providers have. */
  readonly withStatusWords: (words: readonly string[]) => Form
}

/** Compiles a form's tables, once, at start. Example: `src/forms/b.ts`; `docs/forms.md` explains each step. */
export function defineForm(tables: FormTables): Form {
  const statuses = { meanings: new Map(tables.statuses.map((status) => [status, status])), available: new Set(tables.statuses) }
  const operations = forEachOp((op) => compileOperation(op, tables.operations[op], statuses, tables.takesEmptyParameters ?? false))
  return {
    name: tables.name,
    credential: tables.credential,
    statuses: tables.statuses,
    page: tables.page,
    error: tables.error,
    amountRefusal: tables.amountRefusal,
    isChosenByKey: tables.isChosenByKey ?? true,
    keyMember: tables.keyMember,
    hasIdempotencyKey: tables.hasIdempotencyKey ?? true,
    operations,
    questions: questionsOf(tables, statuses),
    streams: tables.hasStreams ? streamsOf(operations.getTransaction) : [],
    capabilities: {
      newestFirst: tables.newestFirst,
      hasExpectedAmount: tables.hasExpectedAmount,
      pageSize: 100,
      requestFields: forEachOp((op) => fieldsOf(tables.operations[op].request)),
      responseFields: forEachOp((op) => fieldsOf(tables.operations[op].response)),
    },
    withStatusWords: (words) => defineForm({ ...tables, statuses: [...tables.statuses, ...(words as readonly Status[])] }),
    withExtraIdNames: (names) =>
      defineForm({ ...tables, operations: forEachOp((op) => renameExtraIds(tables.operations[op], names)) }),
  }
}

interface FormStatuses extends StatusWords {
  readonly available: ReadonlySet<Status>
}

function questionsOf(
  { questions = {}, takesEmptyParameters = false }: FormTables,
  statuses: FormStatuses,
): readonly QuestionCodec[] {
  return questionNames.flatMap((name) => {
    const tables = questions[name]
    if (!tables) return []
    const { rows } = tables
    const compiled = compileTables(tables, statuses, rows === 'page' && !takesEmptyParameters)
    return [{ question: name, keyed: keyedQuestions.has(name), rows, ...compiled }]
  })
}

function streamsOf(get: OperationCodec): readonly StreamCodec[] {
  const { responseCodec, responseNames, requestCodec, requestNames } = get
  const { path: ofOne } = compileEndpoint(`GET ${get.path.pattern}/events`)
  const { path: ofAll } = compileEndpoint('GET /events')
  const common = { method: 'GET', success: 200, keyed: true, responseCodec, responseNames } as const
  const nothing = compileRequest({}, ofAll.parameters, false)
  return [
    { ...common, stream: 'watchTransaction', path: ofOne, requestCodec, requestNames },
    { ...common, stream: 'watchTransactions', path: ofAll, requestCodec: nothing, requestNames: new Map() },
  ]
}

function compileOperation(op: Op, tables: OperationTables, statuses: FormStatuses, takesEmptyParameters: boolean): OperationCodec {
  return {
    op,
    keyed: keyed.has(op),
    paged: paged.has(op),
    dropsBadRows: op === 'listCurrencies',
    ...compileTables(tables, statuses, paged.has(op) && !takesEmptyParameters),
  }
}

function compileTables(
  { at, success, request, response, addedByProvider }: OperationTables,
  statuses: FormStatuses,
  refusesEmpty = false,
): Omit<EndpointCodec, 'keyed'> {
  const { method, path } = compileEndpoint(at)
  const requestCodec = compileRequest(request, path.parameters, method === 'POST', [], statuses.available, false, refusesEmpty)
  const responseCodec = compileResponse(response, statuses, addedByProvider)
  return {
    method,
    path,
    success,
    requestCodec,
    responseCodec,
    requestNames: namesByField(requestCodec.slots),
    responseNames: namesByField(responseCodec.slots),
  }
}

/** The first name of a field counts. */
export function namesByField(slots: readonly { readonly field: string; readonly name: string }[]): ReadonlyMap<string, string> {
  return new Map([...Map.groupBy(slots, ({ field }) => field)].map(([field, [first]]) => [field, first?.name ?? '']))
}
