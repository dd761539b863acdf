/** Compares the terms of a create (all but assets and amount) with those that a provider reports (docs/contract.md §10.3). */
import { memoOf, sameAddress } from '../../domain/address/same-address.ts'
import type { Transaction } from '../../domain/swap/swap.ts'

const terms = ['withdrawalAddress', 'refundAddress', 'withdrawalExtraId', 'refundExtraId', 'rateType'] as const

type Term = (typeof terms)[number]
type Terms = Partial<Pick<Transaction, Term>>

/** The terms whose reported value differs from the requested one. A term that is not reported is no contradiction. */
export function contradictedTerms(requested: Terms, reported: Terms): readonly Term[] {
  const isSame: Readonly<Record<Term, () => boolean>> = {
    withdrawalAddress: () => isSameAddress(requested.withdrawalAddress, reported.withdrawalAddress),
    refundAddress: () => isSameAddress(requested.refundAddress, reported.refundAddress),
    withdrawalExtraId: () => isSameMemo(withdrawalMemo(requested), withdrawalMemo(reported)),
    refundExtraId: () => isSameMemo(refundMemo(requested), refundMemo(reported)),
    rateType: () => !reported.rateType || reported.rateType === requested.rateType,
  }
  return terms.filter((term) => !isSame[term]())
}

/** The requested memos that the reported terms do not contain. */
export function unconfirmedMemos(requested: Terms, reported: Terms): readonly Term[] {
  const isMissing = (memo: (terms: Terms) => string | undefined): boolean =>
    memo(requested) !== undefined && memo(reported) === undefined
  return [
    ...(isMissing(withdrawalMemo) ? ['withdrawalExtraId' as const] : []),
    ...(isMissing(refundMemo) ? ['refundExtraId' as const] : []),
  ]
}

/** The requested terms that are not reported. */
export function missingTerms(requested: Terms, reported: Terms): readonly Term[] {
  const fields = ['withdrawalAddress', 'refundAddress', 'rateType'] as const
  return [...fields.filter((field) => requested[field] && !reported[field]), ...unconfirmedMemos(requested, reported)]
}

function withdrawalMemo({ withdrawalAddress, withdrawalExtraId }: Terms): string | undefined {
  return memoOf(withdrawalAddress, withdrawalExtraId)
}

function refundMemo({ refundAddress, refundExtraId }: Terms): string | undefined {
  return memoOf(refundAddress, refundExtraId)
}

function isSameAddress(requested: string | undefined, reported: string | undefined): boolean {
  return !reported || (requested !== undefined && sameAddress(requested, reported))
}

function isSameMemo(requested: string | undefined, reported: string | undefined): boolean {
  return reported === undefined || reported === requested
}
