/** One provider, as its layers see it. A layer takes the whole scope, and what is not of the provider beside it. */

import type { AbsentSwaps } from '../domain/absent-swaps.ts'
import type { AssetTable } from '../domain/asset.ts'
import type { Confidential } from '../domain/confidential.ts'
import type { BudgetPolicy, JudgementKind, Observer } from '../domain/observation.ts'
import type { Caller, Capabilities, Context, Op, ProviderState, Request, ServiceResponse } from '../domain/service.ts'
import type { DepositMemoNetworks, ExtraIds, RateQuery, RateType } from '../domain/swap.ts'
import type { ActionOffer, SwapAction } from '../domain/swap-action.ts'
import type { CachedCurrencyList } from './assets/currency-list.ts'
import type { KnownMaximums } from './assets/plausible-amounts.ts'
import type { Clock, SequenceClock, SteadyClock } from './clock.ts'
import type { Destination } from './destination.ts'
import type { FailedReads } from './failed-reads.ts'
import type { Freshness } from './freshness.ts'
import type { JournaledLedger, LedgerChanges, LedgerEntry } from './ports/ledger.ts'
import type { Timelines } from './timelines.ts'

export type FirstDeposit = 'payable' | 'refused'

/** What follows from a wrong response: nobody gets it, or it is only counted. */
export type JudgePolicies = Readonly<Record<JudgementKind, 'refuse' | 'count'>>

/** `providers.<name>`, as far as layers read it: docs/configuration.md says what each key means. */
export interface ConfiguredProvider {
  /** Who shares its budget, and the health of its key: the tag, if the file names none. */
  readonly account: string
  /** Empty: lists of transactions are read with `key`. */
  readonly listKey: string
  /** Calls in any 60 seconds; 0: unlimited. */
  readonly rateLimit: Readonly<Record<BudgetPolicy, number>>
  /** Times in seconds. */
  readonly breaker: {
    readonly consecutiveFailures: number
    readonly baseEjectionTime: number
    readonly maxEjectionTime: number
  }
  readonly bulkhead: {
    readonly maxConcurrentCalls: number
    readonly maxPendingCalls: number
    readonly maxWaitDuration: number
  }
  /** Of its times without a zone. */
  readonly timezone: string
  readonly extraIds: ExtraIds
  readonly networks: 'confirmed' | 'unconfirmed'
  readonly addresses: 'checked' | 'unchecked'
  readonly depositMemo: DepositMemoNetworks
  readonly judge: JudgePolicies
}

/** How a provider is called. It is as old as the connections, which survive a reload that leaves the provider as it is. */
export interface UpstreamScope {
  /** Names the provider in ids, in the ledger, in metrics and to clients. */
  readonly tag: string
  readonly configured: ConfiguredProvider
  /** For the complete response: `providers.<name>.timeout`. */
  readonly timeoutMs: number
  /** The fields of its form. */
  readonly capabilities: Capabilities
  /** Whether a refusal of its form may be about the amount without a word of that. */
  readonly mayHideAmountRange: boolean
  /** Its operations that are sent with a key. */
  readonly keyed: ReadonlySet<Op>
  /** The read that tells whether it is healthy, with the key if it has such a read. */
  readonly keyedRead: 'listTransactions' | 'listCurrencies'
  /** The calls over HTTP that an operation takes, each by the operation that it belongs to. */
  readonly callsOf: (op: Op, request: Request<Op>, context: Context) => readonly Op[]
  /** Whether keyed operations are sent with the gateway's own key. Otherwise clients send the provider's keys. */
  readonly usesGatewayKey: boolean
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number
  readonly observe: Observer
}

/** One provider of one gateway. Composed once, when the gateway is; nothing of it is made for a request. */
export interface ProviderScope extends UpstreamScope {
  readonly state: ProviderState
  /** All tags of its account, its own first. */
  readonly accountTags: readonly string[]
  /** Whether quotes and creates go to it. */
  readonly isRouted: boolean
  /** Whether other providers serve the same requests, or are compared with it. */
  readonly isOneOfSeveral: boolean
  /** Its currencies, and its names of assets. */
  readonly currencyList: CachedCurrencyList
  /** Of the amounts that it takes. */
  readonly maximums: KnownMaximums
  /** Rate types whose creates get a quote of their own before they are sent. */
  readonly quotedFirst: ReadonlySet<RateType>
  /** What tells quotes apart that callers get by settings of their own: part of the key of a shared quote. */
  readonly quoteTermsOf: (caller: Caller) => string
  /** Whether a quote is for its caller alone. */
  readonly isPersonal: (query: RateQuery) => boolean
  /** Whether the gateway may read its list of transactions: it has one, and has not refused it. */
  readonly hasList: () => boolean
  /** By how much its clock is ahead of this machine's, as far as its responses tell. */
  readonly clockSkewMs: () => number
  /** What it can do about a swap. */
  readonly offers: ReadonlyMap<SwapAction, ActionOffer>
  /** Whether it is known not to answer this operation now: its breaker is not closed, or the last call timed out. */
  readonly isFailing: (op: Op) => boolean
  /** Where its creates go. */
  readonly destination: Destination
  /** A new id for an intent that goes up as the order's reference, by which its owner is found again. */
  readonly intentIdOf: (owner: string) => string
  /** Orders the requests to all providers. */
  readonly sequences: SequenceClock
  /** Of this gateway's configuration. */
  readonly table: AssetTable
  /** Seconds. */
  readonly cache: { readonly rate: number }
  readonly routing: {
    readonly maxDeviation: number
    readonly refuseDeviation: boolean
    readonly roundAmounts: 'down' | 'refuse'
  }
  /** What no client may read in a provider's text. */
  readonly confidential: Confidential
  readonly ledger: JournaledLedger
  /** Its changes. Results that the ledger cannot store now are stored later. */
  readonly journal: LedgerChanges
  readonly absentSwaps: AbsentSwaps
  /**
   * Of a create that was bound without a deposit address, and a get that has one: whether it may be paid. Undefined: there is nothing to judge,
   * or it cannot be judged now. Throws if the ledger fails.
   */
  readonly judgeFirstDeposit: (
    entry: LedgerEntry | undefined,
    get: ServiceResponse<'getTransaction'>,
  ) => Promise<FirstDeposit | undefined>
  /** What this process has stored of creates. Undefined where the gateway's own key reads: then there is no response without the ledger. */
  readonly createdHere:
    | { readonly note: (entry: LedgerEntry) => void; readonly find: (owner: string, id: string) => LedgerEntry | undefined }
    | undefined
  /** Whether a person may take a swap here back from its account. */
  readonly mayTakeBack: () => boolean
  readonly freshness: Freshness
  /** What happens to its swaps. */
  readonly timelines: Pick<Timelines, 'add'>
  readonly failedReads: Pick<FailedReads, 'note' | 'end'>
  /** Keeps the caller's key after an unknown outcome; undefined if the gateway's own key finds the transaction. */
  readonly pendingKeys: { readonly keep: (caller: Caller) => void } | undefined
}
