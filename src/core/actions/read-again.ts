/** The swap as its provider reports it, before something is done about it. */
import { withValue } from '../../domain/context-values.ts'
import { contradictedReport, Fault, standardFault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { sentWords } from '../assets/translate-assets.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { refreshEntry } from '../transactions/ownership.ts'

interface ReadProvider {
  readonly scope: ProviderScope
  /** Its transactions as it reports them. */
  readonly reported: SwapService
}

/** The swap as its provider reports it now, also in the ledger. Throws what the provider says instead. */
export function readNow(
  entry: LedgerEntry,
  context: Context,
  { scope, reported }: ReadProvider,
  timeoutMs: number,
): ReturnType<typeof refreshEntry> {
  const { id } = entry.transaction
  scope.sequences.observe(entry.sequence)
  const within = withValue({ ...context, deadline: performance.now() + timeoutMs }, sentWords, entry.sent)
  return refreshEntry(entry, reported.call('getTransaction', { id }, within), scope, true)
}

/** The provider's state of now: an action is neither sent nor answered with what was true before it. */
export async function readAgain<E extends LedgerEntry>(
  entry: E,
  context: Context,
  provider: ReadProvider,
  timeoutMs: number,
): Promise<E> {
  const { scope } = provider
  const { record, isRejected } = await readNow(entry, context, provider, timeoutMs).catch((reason) => {
    throw unread(Fault.from(reason), scope.tag)
  })
  if (isRejected) throw contradictedReport(scope.tag)
  return { ...entry, ...record }
}

/** Nothing was sent but the read. */
function unread(fault: Fault, provider: string): Fault {
  if (fault.kind === 'notFound' || fault.kind === 'unauthorized')
    return standardFault('failed', { provider, effect: 'refused', cause: fault })
  return fault.effect === 'maybe' ? fault.with({ effect: 'refused' }) : fault
}
