/**
 * Actions on a swap (docs/contract.md §3.11): judged, claimed in the ledger, sent once. A 2xx counts only where the form's member says that
 * it was done (`test/actions/outcomes.test.ts`). An action of which nobody knows whether it was
 * carried out stays claimed, and is looked for (`look.ts`).
 */

import type { AbsentSwaps } from '../../domain/absent-swaps.ts'
import { isSamePaymentAddress } from '../../domain/address/same-address.ts'
import { withDefault, withTimeout } from '../../domain/async.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import type { Answer, Answers } from '../../domain/question.ts'
import { type Context, ownerOf, type SwapService } from '../../domain/service.ts'
import { isFinal } from '../../domain/status.ts'
import { parseTransactionId, type Transaction } from '../../domain/swap.ts'
import { kindOfAction, type SwapAction, type SwapActionRequest } from '../../domain/swap-action.ts'
import { Timeline } from '../../domain/timeline.ts'
import type { RefundAddress } from '../assets/check-request.ts'
import type { Clock } from '../clock.ts'
import { ledgerUnavailable } from '../instrumented-ledger.ts'
import type { JournaledLedger, LedgerChanges, LedgerEntry } from '../ports/ledger.ts'
import type { NewSwapAction, StoredSwapAction, SwapActionStore } from '../ports/swap-actions.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { refreshEntry } from '../transactions/ownership.ts'
import { callOf, isOffered } from './capabilities.ts'
import { type ActedOn, addressIsKept, addressOf, auditOf, judgeAddress, refundAddressOf, refundOf } from './refund-address.ts'

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

type Actions = Required<Pick<Answers, SwapAction>>
/** Of whichever action: the swap. */
type SwapAnswer = Answer<'refundTransaction'> & Answer<'continueTransaction'> & Answer<'setRefundAddress'>

/** The actions of clients on their own swaps. `service`: all providers, behind their layers. */
export function clientActions(parts: ActionParts, service: SwapService): Actions {
  const answerTo =
    (action: SwapAction) =>
    async (request: SwapActionRequest, context: Context): Promise<SwapAnswer> => {
      const by = { owner: ownerOf(context), actor: `account:${context.caller.account ?? ownerOf(context)}`, isForced: false }
      const { isRepeated, deadline } = await carryOut(action, request, by, context, parts)
      const response = await service.call('getTransaction', { id: request.id }, { ...context, deadline, isReadAnew: true })
      const { body, provider, derived, staleSeconds } = response
      return { body, provider, derived, staleSeconds, ...(isRepeated && { replayed: true }) }
    }
  return {
    refundTransaction: answerTo('refundTransaction'),
    continueTransaction: answerTo('continueTransaction'),
    setRefundAddress: answerTo('setRefundAddress'),
  }
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

/** From the outcome of an action until it is looked for. */
export const firstCheckMs = 5_000
/** How long after its deadline an action may still be recorded by the process that sent it. */
const marginMs = 5_000
const maxLedgerWaitMs = 1_000
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
  const own = { ...request, id }
  const entry = { ...found, createdWith: await parts.store.readCreatedWith(tag, id) }
  return mayLackAddress(action, request, entry, provider)
    ? await refundWithAddress(own, entry, by, context, provider, parts)
    : await act(action, own, entry, by, context, provider, parts)
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
async function refundWithAddress(
  request: SwapActionRequest,
  entry: ActedOn,
  by: Actor,
  context: Context,
  provider: ActingProvider,
  parts: ActionParts,
): Promise<CarriedOut> {
  const { offers, timeoutMs } = provider.scope
  const action = 'refundTransaction'
  const earlier = await earlierAction(action, request, by, entry, parts.store)
  if (earlier === 'done') return { isRepeated: true, deadline: performance.now() + timeoutMs }
  const read = await readAgain(entry, context, provider, timeoutMs * readShare)
  const isCall = isOffered(action, offers, read.transaction) && callOf(action, offers, read.transaction) === action
  if (!isCall || endedFault(read) !== undefined) return await act(action, request, read, by, context, provider, parts)
  await act('setRefundAddress', request, read, by, context, provider, parts)
  const latest = await parts.ledger.find(entry.owner, entry.provider, request.id)
  if (!latest) throw standardFault('notFound')
  return await act(action, request, { ...latest, createdWith: entry.createdWith }, by, context, provider, parts)
}

async function act(
  action: SwapAction,
  request: SwapActionRequest,
  known: ActedOn,
  by: Actor,
  context: Context,
  provider: ActingProvider,
  { ledger, store, clock, observe }: ActionParts,
): Promise<CarriedOut> {
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

/** Throws for an earlier action that leaves no room for this one. `done`: it was this one. A stored one: a person replaces it. */
async function earlierAction(
  action: SwapAction,
  request: SwapActionRequest,
  { isForced }: Pick<Actor, 'isForced'>,
  entry: ActedOn,
  store: SwapActionStore,
): Promise<'done' | StoredSwapAction | undefined> {
  const { provider, transaction } = entry
  const known = await store.readActions(provider, transaction.id)
  const earlier = known.find(({ kind }) => kind === kindOfAction(action))
  if (!earlier) return earlierAddress(request, { isForced }, known)
  if (isForced && mayBeReplaced(earlier)) return earlier
  const wentTo = refundOf(earlier.refundAddress === undefined ? refundAddressOf(entry) : earlier)
  const isSame =
    earlier.action === action && (request.refundAddress === undefined || isSamePaymentAddress(wentTo, refundOf(request)))
  if (!isSame) throw conflict('Another decision was made about this swap before.')
  if (earlier.state === 'done') return 'done'
  throw inProgress(earlier)
}

/** Throws for an address after an action of the other kind has brought one, unless that was the same and is done. A stored one: as above. */
function earlierAddress(
  request: SwapActionRequest,
  { isForced }: Pick<Actor, 'isForced'>,
  known: readonly StoredSwapAction[],
): StoredSwapAction | undefined {
  const other = known.find(({ refundAddress }) => refundAddress !== undefined)
  if (!other || request.refundAddress === undefined) return undefined
  if (isForced && mayBeReplaced(other)) return other
  if (!isSamePaymentAddress(refundOf(other), refundOf(request))) throw addressIsKept()
  if (other.state === 'sent') throw inProgress(other)
  return undefined
}

/** A person knows that it was not carried out. */
function mayBeReplaced(earlier: StoredSwapAction): boolean {
  return earlier.state === 'sent' && !mayBeRunning(earlier)
}

/** Whether the process that claimed it may still send it, or wait for its response. */
function mayBeRunning({ checkCount, nextCheckAt = 0 }: Pick<StoredSwapAction, 'checkCount' | 'nextCheckAt'>): boolean {
  return checkCount === 0 && nextCheckAt > Date.now()
}

function inProgress(earlier: Pick<StoredSwapAction, 'checkCount' | 'nextCheckAt'>): Fault {
  const { nextCheckAt } = earlier
  if (nextCheckAt === undefined) {
    const message = 'What became of this action is found out by a person; please ask your operator, or ask again later.'
    return new Fault('inProgress', message, { reason: 'needs_person', effect: 'refused', retryAfter: 3_600, canForce: true })
  }
  const retryAfter = Math.min(3_600, Math.max(1, Math.ceil((nextCheckAt - Date.now()) / 1_000) + 1))
  const message = 'This action has no known outcome yet; please ask again later.'
  return new Fault('inProgress', message, { effect: 'refused', retryAfter, canForce: !mayBeRunning(earlier) })
}

/** The provider's state of now: an action is neither sent nor answered with what was true before it. */
export async function readAgain<E extends LedgerEntry>(
  entry: E,
  context: Context,
  provider: ActingProvider,
  timeoutMs: number,
): Promise<E> {
  const { scope, reported } = provider
  const { id } = entry.transaction
  scope.sequences.observe(entry.sequence)
  const reading = reported.call('getTransaction', { id }, { ...context, deadline: performance.now() + timeoutMs, sent: entry.sent })
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

/** What was done about it after the backup is not in the ledger. */
function unconfirmed(): Fault {
  const message = 'The service was restored, and a person finds out what was done about this swap before; please ask your operator.'
  return new Fault('inProgress', message, { reason: 'needs_person', effect: 'refused', retryAfter: 3_600, canForce: true })
}

function endedFault({ transaction, settledAt }: LedgerEntry): Fault | undefined {
  const { status } = transaction
  if (isFinal(status)) return conflict(`This swap has ended: its status is ${status}.`)
  return settledAt === undefined ? undefined : conflict('This swap was settled by your operator.')
}

/** Waits a moment for the ledger: a claim that it takes later is dropped, since nothing was sent. */
async function claimed(action: NewSwapAction, replaced: StoredSwapAction | undefined, store: SwapActionStore): Promise<boolean> {
  const claiming = store.claimAction(action, replaced)
  return await withTimeout(claiming, maxLedgerWaitMs, () => {
    void dropLate(claiming, action, store)
    throw ledgerUnavailable()
  })
}

async function dropLate(claiming: Promise<boolean>, action: NewSwapAction, store: SwapActionStore): Promise<void> {
  if (await claiming.catch(() => false)) await store.dropAction(action).catch(() => {})
}

/** In the ledger, too, until the provider reports it. */
async function keepAddress(entry: LedgerEntry, address: RefundAddress, journal: LedgerChanges): Promise<void> {
  if (address.refundAddress === undefined || entry.transaction.refundAddress !== undefined) return
  const { owner, provider, transaction } = entry
  const kept = { ...entry, transaction: { ...transaction, ...address } }
  await withDefault(journal.upsert(owner, provider, kept, entry), maxLedgerWaitMs, undefined)
}

function notOffered({ supportUrl }: Transaction): Fault {
  const where = supportUrl === undefined ? 'please ask your operator' : 'please send your user to its support page'
  return new Fault('invalid', `The provider does not offer this for this swap now; ${where}.`, {
    reason: 'not_offered',
    effect: 'nothingSent',
    supportUrl,
  })
}

function conflict(message: string): Fault {
  return new Fault('conflict', message, { effect: 'refused' })
}

/** The refusal of the gateway's own key is a failure of the provider. A time-out before the first byte went up is none of the outcome. */
function refusal(fault: Fault): Fault {
  const { kind, provider } = fault
  const details = { effect: 'refused', cause: fault, ...(provider !== undefined && { provider }) } as const
  if (kind === 'unauthorized') return standardFault('accessRefused', details)
  if (kind === 'limited') return standardFault('unavailable', { ...details, retryAfter: fault.retryAfter ?? 1 })
  if (kind !== 'timedOut') return fault
  return new Fault(
    'unreachable',
    'The provider could not be reached in time, and nothing was sent; please try again later.',
    details,
  )
}

function unknownOutcome(cause: Fault, provider: string): Fault {
  const message =
    'The outcome is unknown: the provider may have taken it. Please repeat this request unchanged: nothing is sent twice.'
  return new Fault('outcomeUnknown', message, { cause, provider, retryAfter: Math.ceil(firstCheckMs / 1_000) + 1 })
}
