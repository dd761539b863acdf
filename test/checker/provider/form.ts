/** The differences between the two forms of `docs/service.md`. */
import type { IncomingHttpHeaders } from 'node:http'
import { type Digits, readJson } from '../../support/json.ts'
import { type AssetWords, assets } from '../../support/swaps.ts'
import type { Order, Swap } from '../order.ts'

export interface ProviderForm {
  readonly keyOf: (headers: IncomingHttpHeaders) => string | undefined
  readonly assetsOf: (fields: RequestFields) => { readonly from: AssetWords | undefined; readonly to: AssetWords | undefined }
  readonly currencies: readonly object[]
  /** `amountTo`: the amount received. */
  readonly rate: (query: URLSearchParams, amountTo: Digits) => object
  readonly createdStatus: 200 | 201
  readonly created: (swap: Swap) => object
  readonly got: (swap: Swap) => object
  readonly listed: (swap: Swap) => object
  /** Whether its list begins with the newest creation. */
  readonly newestFirst: boolean
  readonly page: (data: readonly object[], paging: { page: number; size: number; total: number }) => object
  readonly error: (code: number, message: string) => object
}

/** The body of a create. */
export interface RequestFields {
  readonly coinFrom?: string
  readonly coinTo?: string
  readonly networkFrom?: string
  readonly networkTo?: string
  readonly amount?: Digits
  readonly withdrawalAddress?: string
  readonly refundAddress?: string
  readonly withdrawalExtraId?: string
  readonly refundExtraId?: string
  readonly rateType?: string
}

export const known: readonly AssetWords[] = Object.values(assets)

/** The order in a body, or what is wrong with it. */
export function readOrder({ assetsOf }: ProviderForm, body: string): Order | string {
  const fields = readJson(body) as RequestFields
  const { from, to } = assetsOf(fields)
  if (!from) return 'Invalid coinFrom parameter'
  if (!to) return 'Invalid coinTo parameter'
  if (!fields.amount) return 'Invalid amount parameter'
  if (!fields.withdrawalAddress) return 'Invalid withdrawalAddress parameter'
  const { refundAddress, withdrawalExtraId, refundExtraId, rateType = 'float' } = fields
  const optional = {
    ...(refundAddress && { refundAddress }),
    ...(withdrawalExtraId && { withdrawalExtraId }),
    ...(refundExtraId && { refundExtraId }),
  }
  return { from, to, amount: fields.amount.rawJSON, withdrawalAddress: fields.withdrawalAddress, rateType, ...optional }
}
