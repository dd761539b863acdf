/** What a create asks for beside its assets and its amount, compared with what a provider reports (docs/contract.md §10.3). */
import { memoOf, sameAddress } from '../domain/address/same-address.ts'
import type { Transaction } from '../domain/swap.ts'

const terms = ['withdrawalAddress', 'refundAddress', 'withdrawalExtraId', 'refundExtraId', 'rateType'] as const

type Term = (typeof terms)[number]
type Terms = Partial<Pick<Transaction, Term>>

/** The terms in which the reported ones contradict what was asked. What is not reported contradicts nothing. */
export function contradictedTerms(asked: Terms, reported: Terms): readonly Term[] {
  const isSame: Readonly<Record<Term, () => boolean>> = {
    withdrawalAddress: () => isSamePlace(asked.withdrawalAddress, reported.withdrawalAddress),
    refundAddress: () => isSamePlace(asked.refundAddress, reported.refundAddress),
    withdrawalExtraId: () => isSameMemo(withdrawalMemo(asked), withdrawalMemo(reported)),
    refundExtraId: () => isSameMemo(refundMemo(asked), refundMemo(reported)),
    rateType: () => !reported.rateType || reported.rateType === asked.rateType,
  }
  return terms.filter((term) => !isSame[term]())
}

/** The memos that were asked for and that the reported terms do not confirm. */
export function unconfirmedMemos(asked: Terms, reported: Terms): readonly Term[] {
  const isSilent = (memo: (terms: Terms) => string | undefined): boolean =>
    memo(asked) !== undefined && memo(reported) === undefined
  return [
    ...(isSilent(withdrawalMemo) ? ['withdrawalExtraId' as const] : []),
    ...(isSilent(refundMemo) ? ['refundExtraId' as const] : []),
  ]
}

/** The terms that were asked for and that the reported ones leave open. */
export function silentTerms(asked: Terms, reported: Terms): readonly Term[] {
  const fields = ['withdrawalAddress', 'refundAddress', 'rateType'] as const
  return [...fields.filter((field) => asked[field] && !reported[field]), ...unconfirmedMemos(asked, reported)]
}

function withdrawalMemo({ withdrawalAddress, withdrawalExtraId }: Terms): string | undefined {
  return memoOf(withdrawalAddress, withdrawalExtraId)
}

function refundMemo({ refundAddress, refundExtraId }: Terms): string | undefined {
  return memoOf(refundAddress, refundExtraId)
}

function isSamePlace(asked: string | undefined, reported: string | undefined): boolean {
  return !reported || (asked !== undefined && sameAddress(asked, reported))
}

function isSameMemo(asked: string | undefined, reported: string | undefined): boolean {
  return reported === undefined || reported === asked
}
