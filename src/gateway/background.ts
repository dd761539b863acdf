/** What a gateway does without a request. The process calls both at intervals. */
import { ListScans } from '../core/creation/list-scan.ts'
import { lookAfterRefusals, reconcile } from '../core/creation/reconcile.ts'
import type { Gateway, SharedParts } from './parts.ts'
import type { RoutedProvider } from './routed-provider.ts'

export function backgroundWork(
  providers: readonly RoutedProvider[],
  parts: SharedParts,
): Pick<Gateway, 'reconcile' | 'pollDraining'> {
  const { config, ledger, deferredResults, pendingKeys, clock, observe, tracing } = parts
  const readers = new Map(providers.flatMap(({ tag, state, reader }) => (state !== 'off' && reader ? [[tag, reader]] : [])))
  const scans = new ListScans()
  const windowMs = config.ledger.reconcile * 1000
  return {
    async reconcile() {
      const undecided = deferredResults.withoutDeferred(ledger)
      const options = { ledger: undecided, readers, scans, pendingKeys, windowMs, clock, observe, tracing }
      await reconcile(options)
      await lookAfterRefusals(options)
      observe({ what: 'reconciled', at: clock() })
    },
    async pollDraining() {
      await Promise.allSettled(providers.map(({ poll }) => poll?.()))
    },
  }
}
