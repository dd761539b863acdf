/** The transactions in a response, in either form. */
import { type Digits, readJson } from '../support/json.ts'

export interface ResponseTransaction {
  readonly id: string
  readonly coinFrom?: string
  readonly coinTo?: string
  readonly rateType?: string
  readonly withdrawalAddress?: string
  readonly amount?: string
  readonly amountTo?: string
  readonly depositAddress?: string
  readonly depositExtraId?: string
}

/** The fields of both forms. */
interface ReportedRow {
  readonly id: string
  readonly coinFrom?: string
  readonly coin_from?: string
  readonly coinTo?: string
  readonly coin_to?: string
  readonly rateType?: string
  readonly rate_type?: string
  readonly withdrawalAddress?: string
  readonly withdrawal_address?: string
  readonly amount?: Digits
  readonly amount_in?: Digits
  readonly amountTo?: Digits
  readonly amount_out?: Digits
  readonly amount_out_expected?: Digits
  readonly depositAddress?: string
  readonly deposit_address?: string
  readonly depositExtraId?: string
  readonly deposit_extra_id?: string
}

/** Throws if the text is not JSON of either form; an empty text has none. */
export function transactionsIn(text: string): readonly ResponseTransaction[] {
  if (text === '') return []
  const document = readJson(text) as Partial<ReportedRow> & { readonly data?: readonly ReportedRow[] }
  return (document.data ?? [document]).filter((row): row is ReportedRow => row.id !== undefined).map(toTransaction)
}

/** None where the text is of neither form. What has no text as its id is no transaction. */
export function transactionsInAny(text: string): readonly ResponseTransaction[] {
  try {
    return transactionsIn(text).filter(({ id }) => typeof id === 'string')
  } catch {
    return []
  }
}

function toTransaction(reported: ReportedRow): ResponseTransaction {
  const facts = {
    id: reported.id,
    coinFrom: reported.coinFrom ?? reported.coin_from,
    coinTo: reported.coinTo ?? reported.coin_to,
    rateType: reported.rateType ?? reported.rate_type,
    withdrawalAddress: reported.withdrawalAddress ?? reported.withdrawal_address,
    amount: (reported.amount ?? reported.amount_in)?.rawJSON,
    amountTo: (reported.amountTo ?? reported.amount_out ?? reported.amount_out_expected)?.rawJSON,
    depositAddress: reported.depositAddress ?? reported.deposit_address,
    depositExtraId: reported.depositExtraId || reported.deposit_extra_id || undefined,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as unknown as ResponseTransaction
}
