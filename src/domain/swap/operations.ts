/** The five operations with their requests and responses. */
import type {
  Currency,
  CurrencyQuery,
  NewTransaction,
  Page,
  Rate,
  RateQuery,
  Transaction,
  TransactionQuery,
  TransactionReference,
} from './swap.ts'

export interface Operations {
  listCurrencies: { request: CurrencyQuery; response: Page<Currency> }
  getRate: { request: RateQuery; response: Rate }
  createTransaction: { request: NewTransaction; response: Transaction }
  listTransactions: { request: TransactionQuery; response: Page<Transaction> }
  getTransaction: { request: TransactionReference; response: Transaction }
}

export type Op = keyof Operations
export type Request<O extends Op> = Operations[O]['request']
export type ResponseBody<O extends Op> = Operations[O]['response']
/** One row of the response: the response itself, or an item of its page. */
export type Row<O extends Op> = ResponseBody<O> extends Page<infer Item> ? Item : ResponseBody<O>

/** The operation of a request or call in metrics and logs: one of the five, or a call of the native lane. */
export type OperationName = Op | 'native'

export const ops: readonly Op[] = ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']

export const operationNames: readonly OperationName[] = [...ops, 'native']

/** A record with the result of `make` for each operation. */
export function forEachOp<T>(make: (op: Op) => T): Record<Op, T> {
  return {
    listCurrencies: make('listCurrencies'),
    getRate: make('getRate'),
    createTransaction: make('createTransaction'),
    listTransactions: make('listTransactions'),
    getTransaction: make('getTransaction'),
  }
}

/** Operations that need a key; the others are public (docs/service.md §5). */
export const keyed: ReadonlySet<Op> = new Set<Op>(['createTransaction', 'listTransactions', 'getTransaction'])
