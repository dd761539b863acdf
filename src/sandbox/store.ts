/** The sandbox's store: every swap ever created. Only the deposit of a swap changes. */
import type { Amount } from '../domain/amount.ts'
import type { RateType } from '../domain/swap.ts'
import type { Terms } from './market/market.ts'
import type { AssetNames } from './naming.ts'

export interface Deposit {
  readonly amount: Amount
  /** Milliseconds since 1970, like `createdAt`. */
  readonly at: number
}

export interface Swap extends AssetNames, Terms {
  readonly id: string
  /** The identity of the key that created it. */
  readonly owner: string
  /** The requested amount; the deposit may differ. */
  readonly amountIn: Amount
  readonly rateType: RateType
  readonly depositAddress: string
  readonly depositExtraId?: string | undefined
  readonly withdrawalAddress: string
  readonly withdrawalExtraId?: string | undefined
  readonly refundAddress?: string | undefined
  readonly refundExtraId?: string | undefined
  readonly createdAt: number
  readonly deposit?: Deposit
}

/** Which of an owner's swaps: created between two moments, both inclusive. */
export interface Selection {
  readonly owner: string
  readonly from: number
  readonly to: number
}

/** Stores the swaps; they survive a restart. */
export interface Store {
  readonly insert: (swap: Swap) => void
  /** Replaces the facts of the swap with this id. */
  readonly update: (swap: Swap) => void
  readonly find: (id: string) => Swap | undefined
  readonly findByDepositAddress: (address: string) => Swap | undefined
  /** Newest creation first. */
  readonly list: (selection: Selection, page: { readonly page: number; readonly size: number }) => readonly Swap[]
  readonly count: (selection: Selection) => number
  readonly close: () => void
}
