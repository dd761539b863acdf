/** An operation of a provider, compiled. */
import type { Op } from '../../domain/service.ts'
import type { StatusWord } from '../../domain/status.ts'
import type { ProviderEnvelope } from '../codec/envelope.ts'
import { compileRequest } from '../codec/request.ts'
import type { RequestEncoder } from '../codec/request-encode.ts'
import { compileResponse } from '../codec/response.ts'
import type { ResponseCodec } from '../codec/response-nodes.ts'
import type { Method } from '../codec/table.ts'
import { namesByField } from '../form.ts'
import { compilePath, type PathPattern } from '../path.ts'
import type { CallTables, ProviderTables } from './tables.ts'

export interface ProviderCall {
  readonly op: Op
  readonly method: Method
  readonly path: PathPattern
  /** Whether it is sent with the provider's key. */
  readonly keyed: boolean
  readonly maxResponseBytes?: number | undefined
  /** In lower case. */
  readonly addressHeader?: string | undefined
  readonly requestCodec: RequestEncoder
  readonly responseCodec: Pick<ResponseCodec, 'slots' | 'decode' | 'decodeRows'>
  /** Wire names of the response's fields, by domain field. */
  readonly responseNames: ReadonlyMap<string, string>
}

export interface ProviderOperation extends ProviderCall {
  /** The places of a list's rows and counts; undefined for an operation without pages. */
  readonly page: ProviderEnvelope | 'items' | undefined
  /** Whether a row that does not match the form is dropped; otherwise the page fails (docs/contract.md §8). */
  readonly dropsBadRows: boolean
  /** Only rows with these values are used. */
  readonly only: readonly (readonly [name: string, value: string | boolean])[]
  readonly also: ProviderCall | undefined
  readonly assumes: readonly string[]
  readonly refusesByLimits: boolean
}

const paged: ReadonlySet<Op> = new Set<Op>(['listCurrencies', 'listTransactions'])

/** `implied`: fields of the request that the choice of these tables expresses. */
export function compileOperation(
  op: Op,
  tables: ProviderTables,
  isKeyed: boolean,
  statuses: ReadonlyMap<string, StatusWord>,
  implied: readonly string[],
): ProviderOperation {
  return {
    ...compileCall(op, tables, isKeyed, statuses, implied),
    page: paged.has(op) ? (tables.page ?? 'items') : undefined,
    dropsBadRows: op === 'listCurrencies',
    only: Object.entries(tables.only ?? {}),
    also: tables.also && compileCall(op, tables.also, isKeyed, statuses),
    assumes: tables.assumes ?? [],
    refusesByLimits: tables.refusesByLimits ?? false,
  }
}

function compileCall(
  op: Op,
  tables: CallTables,
  isKeyed: boolean,
  meanings: ReadonlyMap<string, StatusWord>,
  implied: readonly string[] = [],
): ProviderCall {
  const method = tables.at.startsWith('GET ') ? 'GET' : 'POST'
  const path = compilePath(tables.at.slice(method.length + 1))
  const responseCodec = compileResponse(tables.response, { meanings, available: new Set(meanings.values()) })
  return {
    op,
    method,
    path,
    keyed: isKeyed,
    maxResponseBytes: tables.maxResponseBytes,
    addressHeader: tables.addressHeader?.toLowerCase(),
    requestCodec: compileRequest(tables.request, path.parameters, method === 'POST', implied),
    responseCodec,
    responseNames: namesByField(responseCodec.slots),
  }
}
