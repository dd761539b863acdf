/**
 * Actions on a swap (docs/contract.md §3.11): judged, claimed in the ledger, sent once. A 2xx counts only where the form's member says that
 * it was done. An action of unknown outcome stays claimed, and is looked for (`look.ts`). It is stored and audited under the name that was
 * asked.
 */
import type { AbsentSwaps } from '../../domain/absent-swaps.ts'
import { withDefault } from '../../domain/async.ts'
import { Fault, isCausedBy, standardFault, UncertainChange } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { parseTransactionId } from '../../domain/swap.ts'
import { kindOfAction, type SwapAction, type SwapActionRequest } from '../../domain/swap-action.ts'
import { Timeline } from '../../domain/timeline.ts'
import type { RefundAddress } from '../assets/check-request.ts'
import type { Clock } from '../clock.ts'
import type { JournaledLedger, LedgerChanges, LedgerEntry } from '../ports/ledger.ts'
import type { NewSwapAction, StoredSwapAction, SwapActionStore } from '../ports/swap-actions.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { claimInTime, firstCheckMs, marginMs, maxLedgerWaitMs } from '../sent-once.ts'
import { callOf, isOffered } from './capabilities.ts'
import { earlierAction, inProgress } from './earlier-action.ts'
import { endedFault, notOffered, refusal, unconfirmed, unknownOutcome } from './faults.ts'
import { readAgain } from './read-again.ts'
import { type ActedOn, addressOf, auditOf, judgeAddress, refundAddressOf } from './refund-address.ts'

/** A provider whose swaps may be acted on. */
export interface ActingProvider {
  readonly scope: ProviderScope
  /** Its transactions as it reports them. */
  readonly reported: SwapService
  /** Sends an action, once. */
  readonly act: (action: SwapAction, request: SwapActionRequest, context: Context) => Promise<void>
}

export interface ActionParts {
  /** By tag. */
  readonly providers: ReadonlyMap<string, ActingProvider>
  readonly ledger: JournaledLedger
  readonly store: SwapActionStore
  readonly absentSwaps: AbsentSwaps
  readonly clock: Clock
  readonly observe: Observer
}

/** Who acts, and on whose swap. */
export interface Actor {
  readonly owner: string
  readonly actor: string
  /** Whether an action of unknown outcome is sent again: a person knows that it was not carried out. */
  readonly isForced: boolean
  /** For the audit log. */
  readonly note?: string | undefined
}

/** What an action is carried out with. */
interface Acting {
  /** Its id is the provider's own. */
  readonly request: SwapActionRequest
  readonly by: Actor
  readonly context: Context
  readonly provider: ActingProvider
  readonly parts: ActionParts
}

/** Of the provider's timeout: what the read before an action may take. */
const readShare = 0.4
const offRetryAfter = 60

interface CarriedOut {
  /** It was done before: nothing was sent. */
  readonly isRepeated: boolean
  /** Until then the swap may be read for the response: the state that is known may be older than the outcome. */
  readonly deadline: number
}

/**
 * Resolves when the provider has taken the action. Throws a `Fault`: nothing was sent, or the provider refused it, or its outcome is unknown
 * (`outcomeUnknown`). `request.id` has the tag.
 */
export async function carryOut(
  action: SwapAction,
  request: SwapActionRequest,
  by: Actor,
  context: Context,
  parts: ActionParts,
): Promise<CarriedOut> {
  const { tag = '', id } = parseTransactionId(request.id)
  const found = await parts.ledger.find(by.owner, tag, id)
  if (!found) throw await parts.absentSwaps.fault(tag, id)
  const provider = parts.providers.get(tag)
  if (!provider?.scope.offers.has(action)) throw notOffered(found.transaction)
  if (provider.scope.state === 'off') throw standardFault('unavailable', { retryAfter: offRetryAfter, effect: 'refused' })
  if (!by.isForced && (await parts.store.needsConfirmation(tag, id))) throw unconfirmed()
  const acting: Acting = { request: { ...request, id }, by, context, provider, parts }
  const entry = { ...found, createdWith: await parts.store.readCreatedWith(tag, id) }
  return mayLackAddress(action, request, entry, provider)
    ? await refundWithAddress(entry, acting)
    : await act(action, entry, acting)
}

/** Where a refund takes no address of its own, and the swap has none. */
function mayLackAddress(
  action: SwapAction,
  { refundAddress }: SwapActionRequest,
  entry: ActedOn,
  { scope: { offers } }: ActingProvider,
): boolean {
  const takesNone = action === 'refundTransaction' && offers.get(action)?.takesAddress === false
  return (
    takesNone && refundAddress !== undefined && refundAddressOf(entry).refundAddress === undefined && offers.has('setRefundAddress')
  )
}

/** Before a swap without a deposit is cancelled, it gets the address: what is paid later is sent back to it. These are two actions. */
async function refundWithAddress(entry: ActedOn, acting: Acting): Promise<CarriedOut> {
  const { request, by, context, provider, parts } = acting
  const { offers, timeoutMs } = provider.scope
  const action = 'refundTransaction'
  const earlier = await earlierAction(action, request, by, entry, parts.store)
  if (earlier === 'done') return { isRepeated: true, deadline: performance.now() + timeoutMs }
  const read = await readAgain(entry, context, provider, timeoutMs * readShare)
  const isCall = isOffered(action, offers, read.transaction) && callOf(action, offers, read.transaction) === action
  if (!isCall || endedFault(read) !== undefined) return await act(action, read, acting)
  await act('setRefundAddress', read, acting)
  const latest = await parts.ledger.find(entry.owner, entry.provider, request.id)
  if (!latest) throw standardFault('notFound')
  return await act(action, { ...latest, createdWith: entry.createdWith }, acting)
}

async function act(action: SwapAction, known: ActedOn, { request, by, context, provider, parts }: Acting): Promise<CarriedOut> {
  const { ledger, store, clock, observe } = parts
  const { scope } = provider
  const { tag, offers } = scope
  const deadline = performance.now() + scope.timeoutMs
  const earlier = await earlierAction(action, request, by, known, store)
  if (earlier === 'done') return { isRepeated: true, deadline }
  const entry = await readAgain(known, context, provider, scope.timeoutMs * readShare)
  const isRepeated = async (): Promise<boolean> =>
    (await earlierAction(action, request, { isForced: false }, entry, store)) === 'done'
  const refused = endedFault(entry) ?? (isOffered(action, offers, entry.transaction) ? undefined : notOffered(entry.transaction))
  // The same request may have been carried out since.
  if (refused && !by.isForced && (await isRepeated())) return { isRepeated: true, deadline }
  const call = callOf(action, offers, entry.transaction)
  const address = addressOf(action, call, request, entry, offers)
  if (refused) throw refused
  if (request.refundAddress !== undefined) await judgeAddress(request, entry.transaction, scope)
  const timeline = new Timeline()
  const claim: NewSwapAction = {
    claim: crypto.randomUUID(),
    provider: tag,
    id: request.id,
    kind: kindOfAction(action),
    action,
    owner: by.owner,
    actor: by.actor,
    audited: { ...auditOf(address), ...(by.note !== undefined && { note: by.note }) },
    ...address,
    claimedAt: clock(),
    nextCheckAt: clock() + Math.ceil(deadline - performance.now()) + marginMs,
  }
  if (!(await claimed(claim, earlier, store))) {
    // Another request was first, and may have ended meanwhile.
    if (await isRepeated()) return { isRepeated: true, deadline }
    const latest = await ledger.find(by.owner, tag, request.id)
    if (!latest) throw standardFault('notFound')
    const ended = endedFault(latest)
    if (ended) throw ended
    throw inProgress({ checkCount: 0, nextCheckAt: claim.nextCheckAt })
  }
  const note = (outcome: 'done' | 'refused' | 'unknown'): void => {
    observe({ what: 'action', provider: tag, action, outcome })
    timeline.add({ event: 'action', action, outcome })
    scope.timelines.add({ provider: tag, id: request.id }, timeline.take())
  }
  // If the ledger fails in the following, the action is looked for at its `nextCheckAt`, as after a crash.
  const leaveUnknown = async (cause: Fault): Promise<never> => {
    note('unknown')
    const stored: StoredSwapAction = { ...claim, state: 'sent', checkCount: 0 }
    await store.scheduleNextActionCheck(stored, clock() + firstCheckMs).catch(() => false)
    throw unknownOutcome(cause, tag)
  }
  try {
    await provider.act(call, { id: request.id, ...address }, { ...context, deadline, timeline })
  } catch (reason) {
    const fault = Fault.from(reason)
    if (fault.effect === 'maybe') return await leaveUnknown(fault)
    note('refused')
    await store.dropAction(claim).catch(() => {})
    throw refusal(fault)
  }
  await store.markActionDone(claim).catch((reason) => leaveUnknown(Fault.from(reason)))
  note('done')
  await keepAddress(entry, address, scope.journal)
  return { isRepeated: false, deadline }
}

/**
 * Throws if the ledger does not take the claim in time, or has not confirmed it: then nothing is sent, and it is dropped. One that replaces
 * an earlier action stays instead: that one is gone, and its outcome is still unknown.
 */
async function claimed(claim: NewSwapAction, earlier: StoredSwapAction | undefined, store: SwapActionStore): Promise<boolean> {
  const drop = earlier ? async () => {} : () => dropUntilTaken(claim, store)
  const claiming = store.claimAction(claim, earlier)
  claiming.catch((reason) => {
    if (isCausedBy(reason, UncertainChange)) void drop()
  })
  return await claimInTime(claiming, maxLedgerWaitMs, drop)
}

const dropPausesMs = [0, 1_000, 5_000, 30_000, 90_000]

async function dropUntilTaken(claim: NewSwapAction, store: SwapActionStore): Promise<void> {
  for (const pauseMs of dropPausesMs) {
    await new Promise((resolve) => void setTimeout(resolve, pauseMs).unref())
    const isTaken = await store.dropAction(claim).then(
      () => true,
      () => false,
    )
    if (isTaken) return
  }
}

/** In the ledger, too, until the provider reports it. */
async function keepAddress(entry: LedgerEntry, address: RefundAddress, journal: LedgerChanges): Promise<void> {
  if (address.refundAddress === undefined || entry.transaction.refundAddress !== undefined) return
  const { owner, provider, transaction } = entry
  const kept = { ...entry, transaction: { ...transaction, ...address } }
  await withDefault(journal.upsert(owner, provider, kept, entry), maxLedgerWaitMs, undefined)
}
