/** The statuses of a swap (docs/service.md §3). */

/** In order of progress. */
export const progress = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success'] as const

const steps: readonly string[] = progress

export const endStatuses = ['overdue', 'refunded'] as const

export const statuses = [...progress, ...endStatuses] as const

export type Status = (typeof statuses)[number]

/** Whether the status never changes again. */
export function isFinal(status: Status | null | undefined): boolean {
  return status === 'success' || status === 'refunded'
}

/**
 * The status itself if `available` has it, otherwise the furthest available one before it, so that no client gets more progress
 * than is known (docs/contract.md §3.7). Undefined if there is none.
 */
export function roundDown(status: Status, available: ReadonlySet<string>): Status | undefined {
  if (available.has(status)) return status
  const at = steps.indexOf(status)
  return progress.slice(0, at + 1).findLast((candidate) => available.has(candidate))
}

/** What no status of a provider can express: it reports that the swap failed, or that a check holds it. */
const reportedAttentions = ['failed', 'held'] as const

type ReportedAttention = (typeof reportedAttentions)[number]

/** Why a person must settle the swap: as reported, or `lost`: the provider does not find it any more, or `unknown_status`: no table has its word. */
export const attentions = [...reportedAttentions, 'lost', 'unknown_status'] as const

export type Attention = (typeof attentions)[number]

/** Why a swap does not go on, or went back, as far as its provider says. */
export const statusReasons = [
  ...(['kyc', 'aml', 'memo_missing', 'wrong_network', 'amount_out_of_range', 'late_deposit', 'address_invalid'] as const),
  ...(['provider_error', 'other'] as const),
] as const

export type StatusReason = (typeof statusReasons)[number]

/** What a provider's last report says against a swap: it is about another one, or the swap has failed. */
export type Doubt = 'contradicted' | 'failed'

/** The meaning of a provider's word. */
export const statusWords = [...statuses, ...reportedAttentions] as const

export type StatusWord = (typeof statusWords)[number]

/** Whether the word is no status of its own. */
export function isAttention(word: unknown): word is ReportedAttention {
  return word === 'failed' || word === 'held'
}

/**
 * The status of a swap that needs a person, which ended nothing: a held one is at least `exchanging`, a failed one keeps the last known
 * status, but does not wait for a deposit that was seen (`isPaid`).
 */
export function statusUnderAttention(attention: Attention, known: Status | null | undefined, isPaid: boolean): Status {
  if (attention === 'held') return known === 'sending' ? known : 'exchanging'
  if (known === 'wait' && isPaid) return 'confirmation'
  return known ?? 'exchanging'
}
