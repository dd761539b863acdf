/**
 * The gateway's own model of a swap, between the forms. `?` means one thing: some form does not carry this field.
 * A form names an asset in one word (`codeFrom`) or in two (`coinFrom` and `networkFrom`).
 */
import type { Amount } from './amount.ts'
import type { Status } from './status.ts'

export type RateType = 'fixed' | 'float'

/** Where a swap comes from and goes to, in one word or in two. */
export interface Pair {
  readonly codeFrom?: string
  readonly coinFrom?: string
  readonly networkFrom?: string
  readonly codeTo?: string
  readonly coinTo?: string
  readonly networkTo?: string
}

export interface CurrencyQuery {
  readonly page: number
  readonly size: number
  readonly search?: string
}

export interface Currency {
  readonly code?: string
  readonly coin?: string
  readonly network?: string
  readonly name: string
  readonly icon: string
  readonly depositMin?: Amount
  readonly depositMax?: Amount
  readonly notes?: string
}

export interface RateQuery extends Pair {
  readonly amountIn: Amount
  readonly rateType: RateType
}

export interface Rate extends Pair {
  readonly amountIn: Amount
  /** What the user receives; absent where the provider only sends a `message`. */
  readonly amountOut?: Amount
  readonly rate?: Amount
  readonly minAmount: Amount
  readonly maxAmount: Amount
  /** In the coin that is received. */
  readonly fee?: Amount
  readonly rateType?: RateType
  readonly message?: string
}

export interface NewTransaction extends Pair {
  readonly amountIn: Amount
  readonly withdrawalAddress: string
  readonly refundAddress?: string
  readonly withdrawalExtraId?: string
  readonly refundExtraId?: string
  readonly rateType: RateType
}

export interface TransactionQuery {
  readonly page: number
  readonly size: number
  /** An RFC 3339 timestamp or a plain date, inclusive. */
  readonly dateFrom?: string
  readonly dateTo?: string
}

export interface TransactionReference {
  readonly id: string
}

export interface Transaction extends Pair {
  readonly id: string
  /** Absent where the provider used a word that nobody has explained. */
  readonly status?: Status
  readonly amountIn: Amount
  /** The best current figure; what was promised at creation is the ledger's to remember. */
  readonly amountOut?: Amount
  readonly rate?: Amount
  readonly rateType?: RateType
  readonly depositAddress?: string
  readonly depositExtraId?: string
  readonly withdrawalAddress?: string
  readonly withdrawalExtraId?: string
  readonly refundAddress?: string
  readonly refundExtraId?: string
  readonly txHashIn?: string
  readonly txHashOut?: string
  /** As the provider wrote it, like `updatedAt`. */
  readonly createdAt: string
  readonly updatedAt?: string
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Rows over all pages. */
  readonly total: number
  readonly page?: number
  readonly size?: number
}
