/** A form is data: tables and a header. Nothing in it knows another form, or at which edge it stands. */
import { keyed, type Op, type Operations, ops, type Row } from '../domain/operations.ts'
import type { Status } from '../domain/status.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { type AnswerCodec, compileAnswer } from './answer.ts'
import type { Credential } from './credential.ts'
import type { Envelope } from './envelope.ts'
import { type ExtraIdNames, renameExtraIds } from './extra-ids.ts'
import { compilePath, type PathPattern } from './path.ts'
import { compileQuestion, type QuestionCodec } from './question.ts'
import { type Entry, fieldsOf, type Table } from './table.ts'

type Method = 'GET' | 'POST'
type Ask<O extends Op> = Operations[O]['request']

type FieldOf<E> = E extends Entry<infer Field> ? Field : E
type Named<T> = FieldOf<T[keyof T]>
type Required<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]
/** Fails to compile, by name, where a table misses a field that the domain always has. */
type Covers<Fields, T> = [Exclude<Required<Fields>, Named<T>>] extends [never]
  ? unknown
  : { readonly missing: Exclude<Required<Fields>, Named<T>> }

export interface OperationTables {
  readonly at: `${Method} ${string}`
  readonly success: number
  readonly ask: Table
  readonly answer: Table
}

/** The tables of one operation: where it is, what a question and what an answer (or an item of its page) says. */
export function operation<O extends Op>() {
  return <const A extends Table<keyof Ask<O> & string>, const R extends Table<keyof Row<O> & string>>(tables: {
    readonly at: `${Method} ${string}`
    readonly success: number
    readonly ask: A & Covers<Ask<O>, A>
    readonly answer: R & Covers<Row<O>, R>
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
  readonly expectsAmount: boolean
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
  readonly question: QuestionCodec
  readonly answer: AnswerCodec
  /** Wire names of the question's fields, by domain field. */
  readonly asks: ReadonlyMap<string, string>
  readonly answers: ReadonlyMap<string, string>
}

export interface Form {
  readonly name: string
  readonly credential: Credential
  readonly statuses: readonly Status[]
  readonly vocabulary: Vocabulary
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
  const each = <T>(make: (op: Op) => T): Record<Op, T> => Object.fromEntries(ops.map((op) => [op, make(op)])) as Record<Op, T>
  return {
    name: tables.name,
    credential: tables.credential,
    statuses: tables.statuses,
    page: tables.page,
    error: tables.error,
    operations: each((op) => compileOperation(op, tables.operations[op], statuses)),
    vocabulary: {
      newestFirst: tables.newestFirst,
      expectsAmount: tables.expectsAmount,
      asks: each((op) => fieldsOf(tables.operations[op].ask)),
      answers: each((op) => fieldsOf(tables.operations[op].answer)),
    },
    withExtraIdNames: (names) => defineForm({ ...tables, operations: each((op) => renameExtraIds(tables.operations[op], names)) }),
  }
}

function compileOperation(op: Op, { at, success, ask, answer }: OperationTables, statuses: ReadonlySet<string>): OperationCodec {
  const [method, pattern] = at.split(' ') as [Method, string]
  const path = compilePath(pattern)
  return {
    op,
    method,
    path,
    success,
    keyed: keyed.has(op),
    paged: paged.has(op),
    dropsBadRows: op === 'listCurrencies',
    question: compileQuestion(ask, path.parameters, method === 'POST'),
    answer: compileAnswer(answer, statuses),
    asks: wireNames(ask),
    answers: wireNames(answer),
  }
}

function wireNames(table: Table): ReadonlyMap<string, string> {
  return new Map(Object.entries(table).map(([name, entry]) => [typeof entry === 'string' ? entry : entry.field, name]))
}
