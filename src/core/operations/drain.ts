/** Waits until nothing is open at a provider that takes no new swaps (docs/contract-operators.md §12). */
import type { ProviderState } from '../../domain/service.ts'

/** What is so at the provider now; `state` is undefined if the file lacks the provider. */
export type DrainProgress = { readonly state: ProviderState | undefined; readonly open: number } | { readonly failure: string }

/** `open`: the last count. `inUse`: the provider accepts new swaps again, so the wait would not end. */
export interface DrainResult {
  readonly outcome: 'drained' | 'timedOut' | 'inUse'
  readonly open: number
}

interface DrainOptions {
  /** Open creates and transactions before the wait. */
  readonly open: number
  readonly timeoutMs: number
  /** Never rejects. */
  readonly read: () => Promise<DrainProgress>
  /** Called when the number changes, and on a new failure. */
  readonly report: (found: DrainProgress) => void
}

/** After this time every running gateway has applied the change and begins no more creates. */
const propagationMs = 5_000
const pollMs = 1_000

/** Reads again after a failure. */
export async function untilDrained({ open: before, timeoutMs, read, report }: DrainOptions): Promise<DrainResult> {
  const deadline = performance.now() + timeoutMs
  let open: number | undefined
  let failure = ''
  let isApplied = false
  for (let pauseMs = propagationMs; ; pauseMs = pollMs) {
    const leftMs = deadline - performance.now()
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, Math.max(leftMs, 0))))
    isApplied ||= leftMs >= pauseMs
    const found = await read()
    if ('failure' in found) {
      if (found.failure !== failure) report(found)
      failure = found.failure
    } else {
      failure = ''
      if (found.open !== open) report(found)
      open = found.open
      if (found.state === 'active') return { outcome: 'inUse', open }
      // Until every gateway has applied the change, creates may still begin.
      if (open === 0 && isApplied) return { outcome: 'drained', open }
    }
    if (performance.now() >= deadline) return { outcome: 'timedOut', open: open ?? before }
  }
}
