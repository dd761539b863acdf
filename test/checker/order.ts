/** The order of a client, independent of any form. Amounts are lexemes. */
import type { AssetWords } from '../support/swaps.ts'

export interface Order {
  readonly from: AssetWords
  readonly to: AssetWords
  /** Empty in an order by the amount that is to be received. */
  readonly amount: string
  /** What is to be received, if the order is by that. */
  readonly wanted?: string
  readonly withdrawalAddress: string
  readonly refundAddress?: string
  readonly withdrawalExtraId?: string
  readonly refundExtraId?: string
  readonly rateType: string
}

/** An order that a provider took. */
export interface Swap extends Order {
  /** The provider's own. */
  readonly id: string
  readonly status: string
  readonly amountTo: string
  readonly depositAddress: string
  readonly depositExtraId?: string
  readonly createdAt: string
  readonly updatedAt: string
}
