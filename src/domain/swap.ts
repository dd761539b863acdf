/**
 * The gateway's own model of a swap, between the forms. `?` means that some form does not have the field; an undefined field is
 * not known. A form names an asset by code (`codeFrom`) or by coin and network (`coinFrom`, `networkFrom`).
 */
import type { DepositRuleTexts } from './address/rule.ts'
import type { Amount } from './amount.ts'
import type { Attention, Status, StatusReason } from './status.ts'
import type { Capability } from './swap-action.ts'

export type RateType = 'fixed' | 'float'

/** Both assets of a swap, by code or by coin and network. */
export interface Pair {
  readonly codeFrom?: string | undefined
  readonly coinFrom?: string | undefined
  readonly networkFrom?: string | undefined
  readonly codeTo?: string | undefined
  readonly coinTo?: string | undefined
  readonly networkTo?: string | undefined
}

/** The tokens of a swap, each by its contract where that is known. */
export interface Contracts {
  readonly contractFrom?: string | undefined
  readonly contractTo?: string | undefined
}

/** What a create sent in the provider's own words, and what the table had for its assets then: an edit of the table is for new swaps. */
export interface SentWords extends Pair, Contracts {
  /**
   * What its deposit has to be; empty: there was no rule. Absent in rows of older versions, and of orders that were found: then today's table
   * says it.
   */
  readonly deposit?: DepositRuleTexts
  /** Whether the id of its intent went up as its reference. */
  readonly hasReference?: true
}

export interface CurrencyQuery {
  readonly page: number
  readonly size: number
  readonly search?: string | undefined
  /** Whether each coin is to have its networks. */
  readonly withNetworks?: boolean | undefined
}

/** A network of a coin that can be swapped. */
export interface CurrencyNetwork {
  readonly network: string
  /** For people. */
  readonly name: string
  /** Like `TRC20`; otherwise the network's own. */
  readonly shortName: string
  /** Whether it is meant if a request names none. */
  readonly isDefault: boolean
  /** Whether a deposit or a withdrawal may need a memo; undefined if it is not known. */
  readonly needsMemo?: boolean | undefined
  readonly depositMin?: Amount | undefined
  readonly decimals?: number | undefined
  /** The decimal places that the provider takes; those of the network where that has some. */
  readonly precision?: number | undefined
  /** What every address matches; a text that matches may still be none. */
  readonly addressPattern?: string | undefined
  readonly contract?: string | undefined
  readonly blockExplorer?: string | undefined
}

/** What a provider's list says of a coin: false is off. Nothing said is on. */
export interface CoinOffer {
  /** Whether it may be sent. */
  readonly canDeposit?: boolean | undefined
  /** Whether it may be received. */
  readonly canWithdraw?: boolean | undefined
  readonly fixedRate?: boolean | undefined
  readonly floatRate?: boolean | undefined
}

export interface Currency extends CoinOffer {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
  readonly name: string
  readonly icon: string
  readonly depositMin?: Amount | undefined
  readonly depositMax?: Amount | undefined
  readonly notes?: string | undefined
  /** Whether a deposit or a withdrawal may need a memo; undefined if it is not known. */
  readonly needsMemo?: boolean | undefined
  /** The contract of a token, in the provider's spelling. A coin of a chain may have a placeholder. */
  readonly contract?: string | undefined
  /** The decimal places that the provider takes. */
  readonly precision?: number | undefined
  /** The provider's link to an explorer of the network. */
  readonly blockExplorer?: string | undefined
  /** Only where a row is a coin, and only on request. */
  readonly networks?: readonly CurrencyNetwork[] | undefined
}

/** The amount of a request: what is sent, or what is to be received; never both. */
export type RequestedAmount =
  | { readonly amountIn: Amount; readonly amountOut?: undefined }
  | { readonly amountIn?: undefined; readonly amountOut: Amount }

/** The amount that a request has, of whichever coin. */
export function requestedAmountOf({ amountIn, amountOut }: RequestedAmount): Amount {
  return amountOut === undefined ? (amountIn as Amount) : amountOut
}

/** The same request for another amount of the same coin. */
export function withRequestedAmount<R extends RequestedAmount>(request: R, amount: Amount): R {
  return { ...request, ...(request.amountOut === undefined ? { amountIn: amount } : { amountOut: amount }) }
}

export type RateQuery = Pair &
  RequestedAmount & {
    readonly rateType: RateType
    /** Whether the quote is kept for one create of the caller (`core/quotes/firm-quotes.ts`). */
    readonly isFirm?: boolean | undefined
  }

export interface Rate extends Pair {
  readonly amountIn: Amount
  /** The amount that the user receives; absent if the provider only sends a `message`. */
  readonly amountOut?: Amount | undefined
  readonly rate?: Amount | undefined
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
  /** The least that can be received, in the coin that is received. It is shown, and nothing is judged by it. */
  readonly receivedMin?: Amount | undefined
  /** In the coin that is received. */
  readonly fee?: Amount | undefined
  readonly rateType?: RateType | undefined
  readonly message?: string | undefined
  /** The id of a quote that is kept for one create: the provider's, which no client gets, or the gateway's, of a firm quote. */
  readonly quoteId?: string | undefined
  /** Until when: the provider's text, or of a firm quote RFC 3339 in UTC. */
  readonly quoteValidUntil?: string | undefined
}

export type NewTransaction = NewTransactionTerms & RequestedAmount

interface NewTransactionTerms extends Pair {
  readonly withdrawalAddress: string
  readonly refundAddress?: string | undefined
  readonly withdrawalExtraId?: string | undefined
  readonly refundExtraId?: string | undefined
  readonly rateType: RateType
  /** The id of a quote for this create alone: the gateway's, of a firm quote, until `firmQuotes`; then the provider's. */
  readonly quoteId?: string | undefined
  /** The gateway's own: the id of the create's intent, for providers that take a reference of their partner. */
  readonly reference?: string | undefined
}

export interface TransactionQuery {
  readonly page: number
  readonly size: number
  /** An RFC 3339 timestamp or a plain date, inclusive. */
  readonly dateFrom?: string | undefined
  readonly dateTo?: string | undefined
  /** Only swaps with one of these. In a client's form each word stands for all that it shows so. */
  readonly statuses?: readonly Status[] | undefined
  /** An RFC 3339 timestamp or a plain date, inclusive. */
  readonly updatedSince?: string | undefined
  /** A whole id. */
  readonly idSearch?: string | undefined
  readonly sort?: 'createdAt' | undefined
  readonly order?: 'asc' | 'desc' | undefined
}

export interface TransactionReference {
  readonly id: string
}

export interface Transaction extends Pair {
  readonly id: string
  /** Of a provider's report: its assets in the provider's own words, and their contracts. Never stored. */
  readonly ownAssets?: (Pair & Contracts) | undefined
  /** Of a provider's report: the reference that its create had. Never stored, and no client gets it. */
  readonly reference?: string | undefined
  /** The full names of the coins, for forms that have them. */
  readonly coinNameFrom?: string | undefined
  readonly coinNameTo?: string | undefined
  /** Absent if the provider's status is unknown. */
  readonly status?: Status | undefined
  /** Set while a person must settle the transaction; the status is then the last known one. */
  readonly attention?: Attention | undefined
  readonly statusReason?: StatusReason | undefined
  readonly amountIn: Amount
  /** The best current value. The ledger keeps the amount that was quoted at creation. */
  readonly amountOut?: Amount | undefined
  readonly rate?: Amount | undefined
  readonly rateType?: RateType | undefined
  readonly depositAddress?: string | undefined
  readonly depositExtraId?: string | undefined
  readonly withdrawalAddress?: string | undefined
  readonly withdrawalExtraId?: string | undefined
  readonly refundAddress?: string | undefined
  readonly refundExtraId?: string | undefined
  /** The contracts of both tokens, if the provider names them. They are judged, and no client gets them. */
  readonly contractFrom?: string | undefined
  readonly contractTo?: string | undefined
  /** Until when the provider waits for the deposit, RFC 3339 in UTC. */
  readonly validUntil?: string | undefined
  readonly txHashIn?: string | undefined
  readonly txHashOut?: string | undefined
  /** Of a provider's report: it has seen the deposit, whatever its status. No client gets it. */
  readonly hasDeposit?: true | undefined
  readonly refundHash?: string | undefined
  /** What was sent back, in the coin of the deposit. */
  readonly refundAmount?: Amount | undefined
  /** A page of the provider about this swap, or where its user can act. */
  readonly supportUrl?: string | undefined
  /** Of a provider's report: whether something can be done about it now, if the provider says so. No client gets it. */
  readonly hasActions?: boolean | undefined
  /** What can be done about it now. Of a get; never stored. */
  readonly capabilities?: readonly Capability[] | undefined
  /** The provider's text, like `updatedAt`. */
  readonly createdAt: string
  readonly updatedAt?: string | undefined
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** Rows over all pages; if `hasMore` is set, those that are known of. */
  readonly total: number
  /** Set only by a provider that gives no total: whether there may be rows after this page. */
  readonly hasMore?: boolean | undefined
  /** The provider's own rows on this page, where some of them are several items here. */
  readonly rowCount?: number | undefined
  /** Rows of this page that were not of the provider's form. */
  readonly dropped?: number | undefined
  /** The readable fields of such rows, if the request accepts them (`Context.acceptsUnreadableRows`). */
  readonly unreadable?: readonly UnreadableRow<Item>[] | undefined
}

/** A row that is not of the provider's form. */
interface UnreadableRow<Item> {
  /** Identifies the row in the list, on any page. */
  readonly key: string
  readonly fields: Partial<Item>
}

// Memos and tags at a provider (docs/contract.md §3.5).

/** Whether the provider supports them. `unconfirmed`: it does, but its responses may not repeat them. */
export type ExtraIds = boolean | 'unconfirmed'

/** Where deposit addresses are shared, so that a deposit needs a memo. */
export interface DepositMemoNetworks {
  /** Names or aliases. */
  readonly networks: readonly string[]
  /** Whether the configuration lists them; then nothing else counts. */
  readonly isConfigured: boolean
  /** Whether the provider's list says for each asset that a deposit needs one. */
  readonly usesFlags: boolean
}

// Ids of transactions: the provider's own, one segment of a path, and that of clients, with the provider's tag (docs/contract.md §4).

const tagPattern = /^[a-z0-9]{1,16}$/
const maxLength = 256
const control = /[\u0000-\u001f\u007f-\u009f]/

/** False if a path cannot contain the id: empty, `.`, `..`, control characters, over 256 characters (docs/contract.md §4). */
export function isTransactionId(id: string): boolean {
  if (id === '' || id === '.' || id === '..' || control.test(id)) return false
  return id.length <= maxLength || [...id].length <= maxLength
}

/** Whether a provider can have this tag. */
export function isTag(text: string): boolean {
  return tagPattern.test(text)
}

const divider = '~'

interface TaggedId {
  /** Absent if the id has no tag. */
  readonly tag?: string
  /** The provider's own id. */
  readonly id: string
}

/** `<tag>~<id>`. */
export function formatTransactionId(tag: string, id: string): string {
  return tag + divider + id
}

/** Splits at the first divider. */
export function parseTransactionId(id: string): TaggedId {
  const at = id.indexOf(divider)
  return at < 0 ? { id } : { tag: id.slice(0, at), id: id.slice(at + 1) }
}

/** Whether the provider has reported the deposit, whatever the status. */
export function isMoneySeen({ txHashIn, refundHash, hasDeposit }: Partial<Transaction>): boolean {
  return Boolean(txHashIn || refundHash || hasDeposit)
}
