/** A form is data: tables and a header. Nothing in it knows another form, or at which edge it stands. */

import type { Capabilities } from '../domain/swap/capabilities.ts'
import { forEachOp, keyed, type Op, type Operations, type Row } from '../domain/swap/operations.ts'
import type { Status } from '../domain/swap/status.ts'
import type { Credential } from './credential.ts'
import type { Envelope } from './envelope.ts'
import { type ExtraIdNames, renameExtraIds } from './extra-ids.ts'
import { compilePath, type PathPattern } from './path.ts'
import { compileRequest, type RequestCodec } from './request.ts'
import { compileResponse, type ResponseCodec } from './response.ts'
import { fieldsOf, type Method, type OperationTables, type Table, type TableColumn } from './table.ts'

type RequestOf<O extends Op> = Operations[O]['request']

type FieldOf<E> = E extends TableColumn<infer Field> ? Field : E
type Named<T> = FieldOf<T[keyof T]>
type Required<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]
/** Fails to compile, by name, where a table misses a field that the domain always has. */
type Covers<Fields, T> = [Exclude<Required<Fields>, Named<T>>] extends [never]
  ? unknown
  : { readonly missing: Exclude<Required<Fields>, Named<T>> }

/** The tables of one operation: where it is, what a question and what an answer (or an item of its page) says. */
export function operation<O extends Op>() {
  return <const A extends Table<keyof RequestOf<O> & string>, const R extends Table<keyof Row<O> & string>>(tables: {
    readonly at: `${Method} ${string}`
    readonly success: number
    readonly request: A & Covers<RequestOf<O>, A>
    readonly response: R & Covers<Row<O>, R>
  }): OperationTables => tables
}

/** What an error body holds: the status's reason phrase, the message, the status. */
export type ErrorTable = Readonly<Record<string, 'reason' | 'message' | 'status'>>

export interface FormTables {
  /** As clients name it in `X-Swap-Form`; its mount is the same in lower case. */
  readonly name: string
  readonly credential: Credential
  readonly statuses: readonly Status[]
  /** Whether the form promises its list of transactions to be newest creation first. */
  readonly newestFirst: boolean
  /** Whether its transactions tell the amount to be received before it is received. */
  readonly hasExpectedAmount: boolean
  readonly page: Envelope
  readonly error: ErrorTable
  readonly operations: Readonly<Record<Op, OperationTables>>
}

export interface OperationCodec {
  readonly op: Op
  readonly method: Method
  readonly path: PathPattern
  readonly success: number
  readonly keyed: boolean
  readonly paged: boolean
  /** Whether a row that is not of the form is dropped instead of spoiling its page (docs/contract.md §8). */
  readonly dropsBadRows: boolean
  readonly requestCodec: RequestCodec
  readonly responseCodec: ResponseCodec
  /** Wire names of the question's fields, by domain field. */
  readonly requestNames: ReadonlyMap<string, string>
  readonly responseNames: ReadonlyMap<string, string>
}

export interface Form {
  readonly name: string
  readonly credential: Credential
  readonly statuses: readonly Status[]
  readonly capabilities: Capabilities
  readonly page: Envelope
  readonly error: ErrorTable
  readonly operations: Readonly<Record<Op, OperationCodec>>
  /** The same form of a provider that has other names for memos and tags. */
  readonly withExtraIdNames: (names: ExtraIdNames) => Form
}

const paged: ReadonlySet<Op> = new Set<Op>(['listCurrencies', 'listTransactions'])

/** Compiles a form's tables, once, at start. */
export function defineForm(tables: FormTables): Form {
  const statuses = new Set<string>(tables.statuses)
  return {
    name: tables.name,
    credential: tables.credential,
    statuses: tables.statuses,
    page: tables.page,
    error: tables.error,
    operations: forEachOp((op) => compileOperation(op, tables.operations[op], statuses)),
    capabilities: {
      newestFirst: tables.newestFirst,
      hasExpectedAmount: tables.hasExpectedAmount,
      requestFields: forEachOp((op) => fieldsOf(tables.operations[op].request)),
      responseFields: forEachOp((op) => fieldsOf(tables.operations[op].response)),
    },
    withExtraIdNames: (names) =>
      defineForm({ ...tables, operations: forEachOp((op) => renameExtraIds(tables.operations[op], names)) }),
  }
}

function compileOperation(
  op: Op,
  { at, success, request, response }: OperationTables,
  statuses: ReadonlySet<string>,
): OperationCodec {
  const method = at.startsWith('GET ') ? 'GET' : 'POST'
  const path = compilePath(at.slice(method.length + 1))
  return {
    op,
    method,
    path,
    success,
    keyed: keyed.has(op),
    paged: paged.has(op),
    dropsBadRows: op === 'listCurrencies',
    requestCodec: compileRequest(request, path.parameters, method === 'POST'),
    responseCodec: compileResponse(response, statuses),
    requestNames: wireNames(request),
    responseNames: wireNames(response),
  }
}

function wireNames(table: Table): ReadonlyMap<string, string> {
  return new Map(Object.entries(table).map(([name, entry]) => [typeof entry === 'string' ? entry : entry.field, name]))
}
