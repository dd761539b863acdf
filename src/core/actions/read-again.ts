/** The swap as its provider reports it, before something is done about it. */
import { withValue } from '../../domain/context-values.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { refreshEntry } from '../transactions/ownership.ts'

/** The provider's state of now: an action is neither sent nor answered with what was true before it. */
export async function readAgain<E extends LedgerEntry>(
  entry: E,
  context: Context,
  { scope, reported }: { readonly scope: ProviderScope; readonly reported: SwapService },
  timeoutMs: number,
): Promise<E> {
  const { id } = entry.transaction
  scope.sequences.observe(entry.sequence)
  const within = withValue({ ...context, deadline: performance.now() + timeoutMs }, sentWords, entry.sent)
  const reading = reported.call('getTransaction', { id }, within)
  const { record, isRejected } = await refreshEntry(entry, reading, scope).catch((reason) => {
    throw unread(Fault.from(reason), scope.tag)
  })
  if (isRejected)
    throw new Fault('contradicted', "The provider's report is about another swap: please ask your operator.", {
      provider: scope.tag,
    })
  return { ...entry, ...record }
}

/** Nothing was sent but the read. */
function unread(fault: Fault, provider: string): Fault {
  if (fault.kind === 'notFound' || fault.kind === 'unauthorized')
    return standardFault('failed', { provider, effect: 'refused', cause: fault })
  return fault.effect === 'maybe' ? fault.with({ effect: 'refused' }) : fault
}
