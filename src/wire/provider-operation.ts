/** An operation of a provider, compiled. */
import { type Op, paged } from '../domain/service.ts'
import type { Attention, Status, StatusReason } from '../domain/status.ts'
import type { RateType } from '../domain/swap.ts'
import type { ActionOffer, SwapAction, SwapActionRequest } from '../domain/swap-action.ts'
import { namesByField } from './form.ts'
import type { ProviderEnvelope } from './page.ts'
import type { ProviderCredential } from './provider-credential.ts'
import type { RefusalTable } from './refusal.ts'
import { compileEndpoint, compileRequest, type PathPattern, type RequestEncoder } from './request.ts'
import { compileResponse, type StatusWords } from './response.ts'
import type { ResponseCodec } from './response-nodes.ts'
import { fieldsOf, type Method, type RequestTree, type ResponseTree, type StatusMeaning } from './table.ts'

export interface ProviderCall {
  /** Of an action: that of a create, whose rules about its outcome hold for it. */
  readonly op: Op
  readonly action?: SwapAction | undefined
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
  /** Whether a row that does not match the form is dropped; otherwise the page fails (docs/contract-operators.md §8). */
  readonly dropsBadRows: boolean
  /** Only rows with these values are used. */
  readonly only: readonly (readonly [name: string, value: string | boolean])[]
  readonly also: ProviderCall | undefined
  readonly assumes: readonly string[]
  readonly refusesByAmountRange: boolean
}

type ProviderStatuses = Pick<StatusWords, 'meanings' | 'reasons' | 'awaitingOwner' | 'orderPage'>

export interface ProviderAction extends ProviderCall, ActionOffer {
  readonly action: SwapAction
  /** Members of the response of which one must be true; none: a status of success is enough. */
  readonly confirmedBy: readonly string[]
}

/** The tables of one action on a swap. Of its response only the status counts, and what `confirmedBy` names. */
export interface ActionTables {
  readonly at: `POST ${string}`
  readonly request: RequestTree<keyof SwapActionRequest>
  readonly offeredIn: readonly (Status | Attention)[]
  /** Whether `hasActions` of a get decides, where the provider says it. */
  readonly isReported?: true
  readonly confirmedBy?: readonly string[]
}

export function compileAction(action: SwapAction, tables: ActionTables): ProviderAction {
  const { at, request, offeredIn, isReported = false, confirmedBy = [] } = tables
  const call = compileCall('createTransaction', { at, request, response: {} }, true, { meanings: new Map() })
  return { ...call, action, offeredIn, isReported, confirmedBy, takesAddress: fieldsOf(request).has('refundAddress') }
}

/** `implied`: fields of the request that the choice of these tables expresses. */
export function compileOperation(
  op: Op,
  tables: ProviderTables,
  isKeyed: boolean,
  statuses: ProviderStatuses,
  implied: readonly string[],
): ProviderOperation {
  return {
    ...compileCall(op, tables, isKeyed, statuses, [...implied, ...(tables.keeps ?? [])]),
    page: paged.has(op) ? (tables.page ?? 'items') : undefined,
    dropsBadRows: op === 'listCurrencies',
    only: Object.entries(tables.only ?? {}),
    also: tables.also && compileCall(op, tables.also, isKeyed, statuses),
    assumes: [...(tables.assumes ?? []), ...(tables.keeps ?? [])],
    refusesByAmountRange: tables.refusesByAmountRange ?? false,
  }
}

function compileCall(
  op: Op,
  tables: CallTables,
  isKeyed: boolean,
  statuses: ProviderStatuses,
  implied: readonly string[] = [],
): ProviderCall {
  const { method, path } = compileEndpoint(tables.at)
  const responseCodec = compileResponse(tables.response, { ...statuses, available: new Set() })
  return {
    op,
    method,
    path,
    keyed: isKeyed,
    maxResponseBytes: tables.maxResponseBytes,
    addressHeader: tables.addressHeader?.toLowerCase(),
    requestCodec: compileRequest(tables.request, path.parameters, method === 'POST', implied, undefined, true),
    responseCodec,
    responseNames: namesByField(responseCodec.slots),
  }
}

// The data of a provider's form.

/** One HTTP call. */
interface CallTables {
  readonly at: `${Method} ${string}`
  readonly request: RequestTree
  readonly response: ResponseTree
  /** The header that carries the address of the gateway's client. Only for quotes and creates: nothing else always has a client. */
  readonly addressHeader?: string
  /** The maximum size of the response, if more than 2 MiB. */
  readonly maxResponseBytes?: number
}

/** The tables of one operation. */
export interface ProviderTables extends CallTables {
  /** The places of a list's rows and counts; `items`: the response is the list of rows. Its request has `page` or `offset`. */
  readonly page?: ProviderEnvelope | 'items'
  /** Only rows with these values are used. */
  readonly only?: Readonly<Record<string, string | boolean>>
  /** Another call, made at the same time, whose fields are added. */
  readonly also?: CallTables
  /** Fields that the response may lack. They are then taken from the request or the time of the call, and reported as derived. */
  readonly assumes?: readonly string[]
  /** Fields of the request that stay here and do not go up: the provider asks for them only where it needs them. Its response lacks them. */
  readonly keeps?: readonly string[]
  /** In a create: its `quoteId` replaces the fields of the quote's request. */
  readonly isImpliedByQuote?: true
  /** Whether a quote of an amount outside of the limits in the same response is a refusal. */
  readonly refusesByAmountRange?: true
}

/** Tables for a request by the amount that is sent, and for one by the amount that is to be received. */
interface ByAmount {
  readonly sent: ProviderTables
  readonly received: ProviderTables
}

/** An operation of another path or table for each type of rate; one that is absent is not offered. */
type ByRateType = Readonly<Partial<Record<RateType, ProviderTables | ByAmount>>>

/** An operation without `received` is not offered by the amount that is to be received. */
export type OperationVariants = ProviderTables | ByAmount | ByRateType

/** By which amount a request is made. */
export type AmountSide = keyof ByAmount

/** Tables of an operation; without a type of rate they are for both. */
interface Variant {
  readonly rateType: RateType | undefined
  readonly side: AmountSide
  readonly tables: ProviderTables
}

const rateTypes: readonly RateType[] = ['float', 'fixed']

/** None if the provider has no such operation. */
export function variantsOf(operation: OperationVariants | undefined): readonly Variant[] {
  if (!operation) return []
  if ('at' in operation || 'sent' in operation) return sidesOf(operation, undefined)
  return rateTypes.flatMap((rateType) => {
    const tables = operation[rateType]
    return tables ? sidesOf(tables, rateType) : []
  })
}

function sidesOf(tables: ProviderTables | ByAmount, rateType: RateType | undefined): readonly Variant[] {
  if ('at' in tables) return [{ rateType, side: 'sent', tables }]
  return (['sent', 'received'] as const).map((side) => ({ rateType, side, tables: tables[side] }))
}

/** The same operation with other tables. */
export function mapTables(operation: OperationVariants, change: (tables: ProviderTables) => ProviderTables): OperationVariants {
  const ofSides = (tables: ProviderTables | ByAmount): ProviderTables | ByAmount =>
    'at' in tables ? change(tables) : { sent: change(tables.sent), received: change(tables.received) }
  if ('at' in operation || 'sent' in operation) return ofSides(operation)
  return Object.fromEntries(Object.entries(operation).map(([rateType, tables]) => [rateType, ofSides(tables)]))
}

export interface ProviderFormTables {
  /** As in `providers.<name>.form`, in lower case. */
  readonly name: string
  readonly credential: ProviderCredential
  /** The operations that need the provider's key; default: the three that need a client's key. */
  readonly keyed?: readonly Op[]
  /** The meaning of the provider's statuses. */
  readonly statuses: Readonly<Record<string, StatusMeaning>>
  /** Why a swap with such a word is held, or has failed, where no line of a response says it. */
  readonly statusReasons?: Readonly<Record<string, StatusReason>>
  /** Its words for a held swap that waits for what its owner decides. */
  readonly awaitingOwner?: readonly string[]
  /** Its page of a transaction for people, with `{id}` where the id is: https. Used where no line of a response has one. */
  readonly orderPage?: `https://${string}{id}`
  readonly newestFirst: boolean
  readonly hasExpectedAmount: boolean
  /** The largest page; default: 100. */
  readonly pageSize?: number
  readonly refusal: RefusalTable
  /** Rate types whose creates need the id of a quote. */
  readonly quotedFirst?: readonly RateType[]
  /** Its words for networks, where they differ from the table's. */
  readonly networks?: NetworkWords
  /** Its names for assets, by the table's code, where they follow no rule. */
  readonly assets?: Readonly<Record<string, AssetWords>>
  /** Networks on which deposit addresses are shared, beside XRP and XLM. */
  readonly depositMemo?: readonly string[]
  /** Whether `needsMemo` of its list says that a deposit needs a memo, not only that an address may have one. */
  readonly flagsDepositMemos?: true
  /** Whether the second part of its ids (`idPart`) is a secret by which money moves. */
  readonly hasSecretIds?: true
  /** An absent operation: the provider has none. */
  readonly operations: Readonly<Partial<Record<Op, OperationVariants | undefined>>>
  /** What it can do about a swap that does not go on by itself; none by default. */
  readonly actions?: Readonly<Partial<Record<SwapAction, ActionTables>>>
}

/** A provider's words for networks, where they differ from the table's. */
export interface NetworkWords {
  /** For every coin on its own chain, if that has one word. */
  readonly home?: string
  /** By the table's network, in capitals: one word, or one for the network's own coin and one for all others. */
  readonly byName?: Readonly<Record<string, string | { readonly home: string; readonly others: string }>>
}

/** A provider's name for an asset: `code`, or `coin` and `network`, as its form has them. */
export interface AssetWords {
  readonly code?: string
  readonly coin?: string
  readonly network?: string
}
