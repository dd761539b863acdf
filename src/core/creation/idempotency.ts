/** One create per `Idempotency-Key` and identity, independent of the client's form (docs/contract.md §10.1). */
import { isSamePaymentAddress, type PaymentAddress } from '../../domain/address/same-address.ts'
import { plainAmount } from '../../domain/amount.ts'
import type { AssetTable } from '../../domain/asset.ts'
import { withTimeout } from '../../domain/async.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { preferredWait } from '../../domain/call-options.ts'
import { valueIn, withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import {
  type Caller,
  type ClientRequest,
  type Context,
  type IdempotencyKey,
  ownerOf,
  type ServiceResponse,
  type SwapService,
  timedUpstream,
} from '../../domain/service.ts'
import type { Doubt } from '../../domain/status.ts'
import { formatTransactionId, type NewTransaction } from '../../domain/swap.ts'
import { assetKeyOf, from, to } from '../assets/asset-naming.ts'
import type { SteadyClock } from '../clock.ts'
import { ledgerUnavailable } from '../instrumented-ledger.ts'
import { aroundAll, type Layer, onOperations } from '../layer.ts'
import type { IdempotencyKeyState, Ledger, LedgerEntry, TransactionRecord } from '../ports/ledger.ts'
import { mayBeOrderOf } from '../same-swap.ts'
import { firstCheckMs, maxLedgerWaitMs } from '../sent-once.ts'
import { doubtAbout } from '../visible-state.ts'
import { freeKey, inProgress } from './intent.ts'
import type { OutcomeWaits } from './outcome-waits.ts'
import { contradiction, type DeferredResults, failure } from './record-result.ts'
import { undecidedOrder } from './restored-ledger.ts'

interface KeyStores {
  readonly ledger: Pick<Ledger, 'findIdempotencyKey' | 'noteShown'>
  readonly deferredResults: Pick<DeferredResults, 'isDeferred'>
  /** How long the last look at the list of each provider took, by tag. */
  readonly lookMs: ReadonlyMap<string, number>
  readonly waits: Pick<OutcomeWaits, 'newest'>
}

/**
 * Returns the first response for a repeated request. Throws `inProgress` (409) while its outcome is unknown, and `reusedKey`
 * (422) for another request with the same key.
 */
export function idempotency(stores: KeyStores, table: AssetTable, sentCreateKeys: SentCreateKeys): Layer {
  const { ledger, lookMs } = stores
  return onOperations({
    async createTransaction(request, context, next) {
      const key = context.idempotencyKeyHeader
      if (key === undefined) return next.call('createTransaction', request, context)
      const idempotencyKey = idempotencyKeyOf(key, { ...request, pick: context.pick }, table)
      const startedAt = performance.now()
      const existing = await withTimeout(ledger.findIdempotencyKey(ownerOf(context), key), maxLedgerWaitMs, () => {
        throw ledgerUnavailable()
      })
      const waitedMs = performance.now() - startedAt
      if (existing) {
        sentCreateKeys.add(ownerOf(context), key)
        return replay(key, existing, isSameRequest(existing, request, idempotencyKey, table), context, stores, next)
      }
      sentCreateKeys.delete(ownerOf(context), key)
      try {
        const within = withValue(context, freeKey, { idempotencyKey, waitedMs })
        const response = await next.call('createTransaction', request, within)
        sentCreateKeys.add(ownerOf(context), key)
        return response
      } catch (reason) {
        const fault = Fault.from(reason)
        if (fault.kind === 'outcomeUnknown') sentCreateKeys.add(ownerOf(context), key)
        // Also of a request beside this one that found it in progress: the key is free again.
        else if (!mayBeSecond(fault)) sentCreateKeys.delete(ownerOf(context), key)
        // Without a key a client that waits and repeats would make a second swap.
        const { provider = context.upstreamTimer?.provider ?? '' } = fault
        if (fault.kind === 'outcomeUnknown') throw fault.with({ retryAfter: secondsAfterLook(firstCheckMs, lookMs.get(provider)) })
        if (!mayBeSecond(fault)) throw reason
        // Another request with this key was first, and may have ended meanwhile.
        const winner = await ledger.findIdempotencyKey(ownerOf(context), key)
        if (!winner) throw reason
        sentCreateKeys.add(ownerOf(context), key)
        return replay(key, winner, isSameRequest(winner, request, idempotencyKey, table), context, stores, next)
      }
    },
  })
}

/** Whether a request beside this one, with the same key, may have been first: then it has the key, or the firm quote of both. */
function mayBeSecond({ kind }: Fault): boolean {
  return kind === 'inProgress' || kind === 'quoteExpired'
}

async function replay(
  key: string,
  known: IdempotencyKeyState,
  isSame: boolean,
  context: Context,
  { ledger, deferredResults, lookMs, waits }: KeyStores,
  service: SwapService,
): Promise<ServiceResponse<'createTransaction'>> {
  if (context.timeline) context.timeline.intent = known.intent
  if (!isSame) {
    throw new Fault(
      'reusedKey',
      'This Idempotency-Key was used for another request; please repeat that one unchanged, or use a new key for a new swap.',
    )
  }
  const wait = valueIn(context, preferredWait)
  const keyState = known.state === 'open' ? await timedUpstream(context, waits.newest(ownerOf(context), key, known, wait)) : known
  // Its create was refused meanwhile: the next request may create.
  if (keyState?.intent !== known.intent) throw inProgress()
  if (keyState.state === 'mismatch') throw contradiction(keyState.provider).with({ replayed: true })
  if (keyState.state !== 'done') throw unfinished(keyState, lookMs.get(keyState.provider))
  if (deferredResults.isDeferred(keyState.intent)) throw inProgress() // the ledger shows it before it has confirmed it
  const { entry, first } = keyState
  if (first) {
    refuseDoubtful(entry.provider, doubtAbout(entry))
    return responseOf(entry, first)
  }
  const response = await currentState(entry, context, service)
  if (!(await ledger.noteShown(keyState.intent))) throw undecidedOrder()
  return response
}

const sentKeyLifetimeMs = 3_600_000
const maxSentKeys = 50_000

/**
 * The keys under which this process knows of a create that was sent: to ask again is a read, and counts as one (docs/contract.md §7).
 * A key of a create that was refused is not among them: it may create.
 */
export class SentCreateKeys {
  private readonly keys = new BoundedMap<true>({ share: cacheShares.keys, maxEntries: maxSentKeys, lifetimeMs: sentKeyLifetimeMs })
  private readonly clock: SteadyClock

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  add(owner: string, key: string): void {
    const now = this.clock()
    if (!this.has(owner, key)) this.keys.set(nameOf(owner, key), true, now)
  }

  delete(owner: string, key: string): void {
    this.keys.delete(nameOf(owner, key))
  }

  has(owner: string, key: string): boolean {
    return this.keys.get(nameOf(owner, key), this.clock()) !== undefined
  }
}

function nameOf(owner: string, key: string): string {
  return JSON.stringify([owner, key])
}

const longestPauseMs = 3_600_000

/** 409: the create runs, or is looked for, or a person has to find out what became of it. */
function unfinished(
  { isRunning, isBeingChecked, nextCheckAt, isTakenBack }: Extract<IdempotencyKeyState, { readonly state: 'open' }>,
  lookMs: number | undefined,
): Fault {
  if (isTakenBack) return undecidedOrder()
  if (isRunning || isBeingChecked) return inProgress()
  if (nextCheckAt !== undefined) {
    const untilMs = nextCheckAt - Date.now()
    return untilMs > 0 ? inProgress(secondsAfterLook(untilMs, lookMs)) : inProgress()
  }
  const message = 'The outcome of this create is unknown and needs an operator. Do not retry with another key.'
  return new Fault('inProgress', message, { reason: 'needs_person', effect: 'refused', retryAfter: longestPauseMs / 1000 })
}

/** A second after the next look at the provider's list, if that takes as long as the last one. */
function secondsAfterLook(untilMs: number, lookMs = 0): number {
  return Math.ceil(Math.min(untilMs + lookMs, longestPauseMs - 1000) / 1000) + 1
}

/** The response of a create always has an amount: the received one or the quoted one. */
function responseOf(
  { provider, transaction: latest }: LedgerEntry,
  { transaction, quotedAmountOut, derived }: TransactionRecord,
): ServiceResponse<'createTransaction'> {
  const amountOut = transaction.amountOut ?? quotedAmountOut
  return {
    body: { ...transaction, amountOut, id: formatTransactionId(provider, transaction.id) },
    provider,
    derived,
    replay: { latestStatus: latest.status },
  }
}

/** The current state: there is no first response, because the operator bound the transaction. */
async function currentState(
  { provider, transaction }: LedgerEntry,
  context: Context,
  service: SwapService,
): Promise<ServiceResponse<'createTransaction'>> {
  const {
    body,
    derived = [],
    staleSeconds,
    doubt,
  } = await service.call('getTransaction', { id: formatTransactionId(provider, transaction.id) }, context)
  refuseDoubtful(provider, doubt)
  // Without a deposit address it is no valid response to a create yet.
  if (!body.depositAddress) throw inProgress()
  return { body, provider, derived, staleSeconds, replay: {} }
}

/** Nothing may be paid any more. */
function refuseDoubtful(provider: string, doubt: Doubt | undefined): void {
  if (doubt) throw (doubt === 'failed' ? failure : contradiction)(provider).with({ replayed: true })
}

function idempotencyKeyOf(key: string, request: ClientRequest, table: AssetTable): IdempotencyKey {
  return { key, request, fingerprint: fingerprintOf(request, table) }
}

/** Where nobody knows what its create has requested: by the swap. Else by the table of then, or both by the table of now: an edit of the table makes no other request of a repeat. */
function isSameRequest(
  known: IdempotencyKeyState,
  requested: NewTransaction,
  { fingerprint: wanted }: IdempotencyKey,
  table: AssetTable,
): boolean {
  const { fingerprint, request } = known
  if (fingerprint === '') return known.state !== 'done' || mayBeOrderOf(known.entry.transaction, requested, table)
  return isAlike(fingerprint, wanted) || (request !== undefined && isAlike(fingerprintOf(request, table), wanted))
}

/** Whether both differ at most in the spelling of addresses, and in whether a memo stands beside its address or in it. */
function isAlike(one: string, other: string): boolean {
  if (one === other) return true
  const [terms, otherTerms] = [JSON.parse(one), JSON.parse(other)] as [readonly unknown[], readonly unknown[]]
  const isSameTerm = (term: unknown, at: number): boolean => JSON.stringify(term) === JSON.stringify(otherTerms[at])
  return (
    terms.length === otherTerms.length &&
    terms.every((term, at) => isInAddress(at) || isSameTerm(term, at)) &&
    Object.values(addressesAt).every((at) => isSamePaymentAddress(paymentAddressIn(terms, at), paymentAddressIn(otherTerms, at)))
  )
}

/** Where an address and its memo are in a fingerprint. */
const addressesAt = { withdrawal: [3, 5], refund: [4, 6] } as const
const isInAddress = (at: number): boolean => at >= 3 && at <= 6

function paymentAddressIn(terms: readonly unknown[], [addressAt, memoAt]: readonly [number, number]): PaymentAddress {
  const [address, extraId] = [terms[addressAt] ?? undefined, terms[memoAt] ?? undefined] as (string | undefined)[]
  return { address, extraId }
}

/** Equal for equal requests: assets by the table's code, amounts by value, and the requested provider and firm quote, if any. */
function fingerprintOf(request: ClientRequest, table: AssetTable): string {
  const { amountIn, amountOut, withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType, pick, quoteId } =
    request
  const assets = [from, to].map((side) => assetKeyOf(request, side, table))
  const terms = [amountIn && plainAmount(amountIn), withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType]
  const received = amountOut === undefined ? [] : [{ amountOut: plainAmount(amountOut) }]
  const choices = [...received, ...(pick === undefined ? [] : [{ pick }]), ...(quoteId === undefined ? [] : [{ quoteId }])]
  return JSON.stringify([...assets, ...terms.map((term) => term ?? null), ...choices])
}

// Keys of clients with a create of unknown outcome, if the provider accepts only the client's own key. Kept only in memory: the
// ledger has no more than their digests (docs/contract-operators.md §10.2).

/** For a dropped key, reconciliation waits for the next request of its client. */
const maxKeys = 100_000

/** Keys by owner identity. */
export class PendingCreateKeys {
  private readonly keys = new BoundedMap<string>({ share: cacheShares.keys, maxEntries: maxKeys })
  private pendingOwners: ReadonlySet<string> = new Set()

  /** Keeps the key of a caller whose create has just ended with an unknown outcome. */
  keep({ identity, key }: Caller): void {
    if (identity !== undefined && key !== undefined) this.keys.set(identity, key)
  }

  /** Keeps the caller's key if a create of this owner is pending. */
  capture(caller: Caller): void {
    if (caller.identity !== undefined && this.pendingOwners.has(caller.identity)) this.keep(caller)
  }

  /** Drops the keys of owners that `readOwners` does not return. A key that is added meanwhile stays. */
  async refreshOwners(readOwners: () => Promise<readonly string[]>): Promise<void> {
    const previous = this.owners
    this.pendingOwners = new Set(await readOwners())
    for (const owner of previous) if (!this.pendingOwners.has(owner)) this.keys.delete(owner)
  }

  keyOf(owner: string): string | undefined {
    return this.keys.get(owner)
  }

  get owners(): readonly string[] {
    return this.keys.all.map(([owner]) => owner)
  }
}

/** Captures the key of each caller with a pending create. */
export function captureKeys(keys: PendingCreateKeys): Layer {
  return aroundAll(function captureKeys(op, request, context, next) {
    keys.capture(context.caller)
    return next.call(op, request, context)
  })
}
