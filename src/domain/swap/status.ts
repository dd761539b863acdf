/** How far a swap has come (docs/service.md §3). */

/** In order: a later word is more progress. */
export const progress = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success'] as const

const steps: readonly string[] = progress

export const endStatuses = ['overdue', 'refunded'] as const

export const statuses = [...progress, ...endStatuses] as const

export type Status = (typeof statuses)[number]

/** Whether it never changes any more. */
export function isFinal(status: Status | null | undefined): boolean {
  return status === 'success' || status === 'refunded'
}

/**
 * The word for `status` among `words`: itself, or the furthest that is not further than the truth, so nobody is told of
 * more progress than is known (docs/contract.md §3.7). Undefined where `words` has none.
 */
export function roundDown(status: Status, words: ReadonlySet<string>): Status | undefined {
  if (words.has(status)) return status
  const at = steps.indexOf(status)
  return progress.slice(0, at + 1).findLast((word) => words.has(word))
}
