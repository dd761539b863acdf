/** The data of a provider's form. */
import type { Op } from '../../domain/service.ts'
import type { StatusWord } from '../../domain/status.ts'
import type { RateType } from '../../domain/swap.ts'
import type { ProviderEnvelope } from '../codec/envelope.ts'
import type { Method, RequestTree, ResponseTree } from '../codec/table.ts'
import type { ProviderCredential } from './credential.ts'
import type { RefusalTable } from './refusal.ts'

/** One HTTP call. */
export interface CallTables {
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
  /** The places of a list's rows and counts; `items`: the response is the list of rows. */
  readonly page?: ProviderEnvelope | 'items'
  /** Only rows with these values are used. */
  readonly only?: Readonly<Record<string, string | boolean>>
  /** Another call, made at the same time, whose fields are added. */
  readonly also?: CallTables
  /** Fields that the response may lack. They are then taken from the request or the time of the call, and reported as derived. */
  readonly assumes?: readonly string[]
  /** In a create: its `quoteId` replaces the fields of the quote's request. */
  readonly isImpliedByQuote?: true
  /** Whether a quote of an amount outside of the limits in the same response is a refusal. */
  readonly refusesByLimits?: true
}

/** An operation of another path or table for each type of rate; one that is absent is not offered. */
export type ByRateType = Readonly<Partial<Record<RateType, ProviderTables>>>

/** Tables of an operation; without a type of rate they are for both. */
export interface Variant {
  readonly rateType: RateType | undefined
  readonly tables: ProviderTables
}

const rateTypes: readonly RateType[] = ['float', 'fixed']

/** None if the provider has no such operation. */
export function variantsOf(operation: ProviderTables | ByRateType | undefined): readonly Variant[] {
  if (!operation) return []
  if ('at' in operation) return [{ rateType: undefined, tables: operation }]
  return rateTypes.flatMap((rateType) => {
    const tables = operation[rateType]
    return tables ? [{ rateType, tables }] : []
  })
}

export interface ProviderFormTables {
  /** As in `providers.<name>.form`, in lower case. */
  readonly name: string
  readonly credential: ProviderCredential
  /** The operations that need the provider's key; default: the three that need a client's key. */
  readonly keyed?: readonly Op[]
  /** The meaning of the provider's statuses. */
  readonly statuses: Readonly<Record<string, StatusWord>>
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
  /** Networks on which deposit addresses are shared. */
  readonly depositMemo?: readonly string[]
  /** Whether `needsMemo` of its list says that a deposit needs a memo, not only that an address may have one. */
  readonly flagsDepositMemos?: true
  /** An absent operation: the provider has none. */
  readonly operations: Readonly<Partial<Record<Op, ProviderTables | ByRateType | undefined>>>
}

/** A provider's words for networks, where they differ from the table's. */
export interface NetworkWords {
  /** For every coin on its own chain, if that has one word. */
  readonly home?: string
  /** By the table's network: one word, or one for the network's own coin and one for all others. */
  readonly byName?: Readonly<Record<string, string | { readonly home: string; readonly others: string }>>
}

/** A provider's name for an asset: `code`, or `coin` and `network`, as its form has them. */
export interface AssetWords {
  readonly code?: string
  readonly coin?: string
  readonly network?: string
}
