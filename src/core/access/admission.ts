/**
 * Admission: load shedding, authentication and rate limits, in this order, before the request is decoded
 * (docs/contract.md §5, §6, §7). It depends only on the operation and the caller.
 */
import { overloaded, standardFault } from '../../domain/fault.ts'
import type { Observer } from '../../domain/observation.ts'
import { policyOf } from '../../domain/policy.ts'
import { type Admission, type Caller, type Gate, keyed, type Op } from '../../domain/service.ts'
import type { SteadyClock } from '../clock.ts'
import { clientNetworkOf } from './client-address.ts'
import { type ClientLimits, type Limiter, limitExceeded } from './limits.ts'
import type { ProcessorShares } from './processor-shares.ts'
import type { RefusedAddresses, VerifiedKeys, VerifyKey } from './verified-keys.ts'

export interface AdmissionOptions {
  readonly limits: ClientLimits
  readonly refusedAddresses: RefusedAddresses
  /** Keys that the provider has accepted. Absent in managed mode, where the gateway issues the keys. */
  readonly verifiedKeys?: VerifiedKeys | undefined
  /** Absent where no read can verify a key. */
  readonly verifyKey?: VerifyKey | undefined
  /** `subject`: whom the request counts for. */
  readonly isShed: (op: Op, caller: Caller, subject: string) => boolean
}

/** Returns a gate that never throws for a rejection: it returns the `Fault` as `refusal` (401, 429 or 503). */
export function admission({ limits, refusedAddresses, verifiedKeys, verifyKey, isShed }: AdmissionOptions): Gate {
  return async (op, caller, needsKey = keyed.has(op)) => {
    const subject = subjectOf(op, caller, verifiedKeys === undefined)
    if (isShed(op, caller, subject)) return { refusal: overloaded() } // 503
    if (!needsKey) return await limits.consume(policyOf[op], subject, caller.limits) // quotes need no key; 429
    if (caller.identity === undefined) return refuseWithoutKey(caller, limits, refusedAddresses) // missing or unknown key: 401, or 429
    if (verifiedKeys && !(await verifiedKeys.has(caller.identity))) {
      const unverified = await limits.consumeUnverified(caller.address, true) // a key that no provider has accepted yet: 429
      if (unverified.refusal && !(await verifyKey?.(caller))) return unverified
    }
    // Without `await` an async function takes two more turns of the queue to follow a promise.
    return await limits.consume(policyOf[op], subject, caller.limits) // 429
  }
}

/** Missing and unknown keys are rate-limited too, so that guessing is slow: above the limit, 401 becomes 429. */
async function refuseWithoutKey(
  { address, isKeyUnknown = false }: Caller,
  limits: ClientLimits,
  refusedAddresses: RefusedAddresses,
): Promise<Admission> {
  const counted = await limits.consumeUnverified(address, isKeyUnknown)
  if (isKeyUnknown) refusedAddresses.add(address)
  if (counted.refusal) return counted
  return { ...counted, refusal: standardFault('unauthorized', isKeyUnknown ? {} : { reason: 'key_missing' }) }
}

/** Quotes count by identity only in managed mode: a provider's key is not verified by a quote. */
function subjectOf(op: Op, { address, identity }: Caller, isManaged: boolean): string {
  return identity !== undefined && (isManaged || keyed.has(op)) ? `identity:${identity}` : `address:${clientNetworkOf(address)}`
}

// The limits on what is beside the API, per client network: pages (`/docs`, `openapi.json`), which are shed before any operation, and
// webhooks of providers.

type AddressGate = (address: string) => Promise<Admission>

/** Requests of one client network in a window. A visit of the pages with an empty cache takes four. */
const limit = 120
/** Seconds. */
const windowSeconds = 60

/** Returns the pages' gate: 503 at any load level above 0, 429 above the limit. */
export function pageLimit(limiter: Limiter, load: Load, observe: Observer): AddressGate {
  const gate = addressLimit('pages', limiter, observe)
  return async (address) => (load.level > 0 ? { refusal: overloaded() } : gate(address))
}

/** 429 above the limit. */
export function addressLimit(policy: 'pages' | 'hooks', limiter: Limiter, observe: Observer): AddressGate {
  return async (address) => {
    const { isOver, remaining, resetSeconds } = await limiter.consume(
      `${policy}:address:${clientNetworkOf(address)}`,
      limit,
      windowSeconds,
    )
    observe({ what: 'limit', policy, decision: isOver ? 'refused' : 'admitted' })
    const quota = { policy, limit, windowSeconds, remaining, resetSeconds } as const
    return isOver ? { quota, refusal: limitExceeded(quota) } : { quota }
  }
}

// Load shedding before any work is done (docs/contract.md §6, 503): quotes first, creates last; who takes most of the processor, and who sends
// most, before the others.

/** What is shed: 0 nothing, 1 quotes, 2 also reads, 3 also creates. */
export type LoadLevel = 0 | 1 | 2 | 3

/** Milliseconds that the first queued read and write have waited for the ledger, of one account or of all. */
export interface LedgerWaits {
  readonly readMs: number
  readonly writeMs: number
}

/** The current load of the process. */
export interface Load {
  readonly level: LoadLevel
}

/** The load level from which an operation is rejected. */
const shedAt: Readonly<Record<Op, LoadLevel>> = {
  listCurrencies: 1,
  getRate: 1,
  listTransactions: 2,
  getTransaction: 2,
  createTransaction: 3,
}

/** From this wait on, new requests of the account that need the ledger are rejected. None waits longer than twice this time. */
const maxWaitMs = 500

interface LoadSheddingOptions {
  readonly load: Load
  /** What streams, lists and native calls take of the processor. */
  readonly processorShares: Pick<ProcessorShares, 'isLarge' | 'hadLarge'>
  readonly ledgerWaits: (account: string) => LedgerWaits
  /** Whether reads look up a transaction's owner in the ledger. */
  readonly readsNeedLedger: boolean
  readonly clock: SteadyClock
}

/** Returns a function that decides whether an operation of a caller is rejected now. `subject`: whom it counts for. */
export function loadShedding({ load, processorShares, ledgerWaits, readsNeedLedger, clock }: LoadSheddingOptions) {
  const shares = new CallerShares(clock)
  const isShedByLoad = (op: Op, subject: string, identity: string | undefined): boolean => {
    const isLarge = identity !== undefined && processorShares.isLarge(identity)
    if (load.level === 0) return false
    const hasEqualShare = shares.hasEqualShare(subject, costs[op])
    const level = isLarge ? load.level + 1 : hasEqualShare && !processorShares.hadLarge ? load.level : load.level - 1
    return load.level === 3 || level >= shedAt[op]
  }
  const isLedgerBusy = (op: Op, account: string): boolean => {
    if (!keyed.has(op)) return false
    const isCreate = op === 'createTransaction'
    if (!isCreate && !readsNeedLedger) return false
    const { readMs, writeMs } = ledgerWaits(account)
    return (isCreate ? writeMs : readMs) >= maxWaitMs
  }
  return (op: Op, { identity }: Caller, subject: string): boolean =>
    isShedByLoad(op, subject, identity) || (identity !== undefined && isLedgerBusy(op, identity))
}

/** About what an operation takes of the process, in gets. */
const costs: Readonly<Record<Op, number>> = {
  listCurrencies: 1,
  getRate: 1,
  listTransactions: 2,
  getTransaction: 1,
  createTransaction: 5,
}

const shareWindowMs = 1_000
/** A bound on memory. Further callers count as if they had an equal share. */
const maxCallers = 10_000

/** What callers have sent in this second and the last one, while the process is overloaded. */
class CallerShares {
  private readonly clock: SteadyClock
  private current = new Map<string, number>()
  private last = new Map<string, number>()
  private total = { current: 0, last: 0 }
  private startedAt = Number.NEGATIVE_INFINITY

  constructor(clock: SteadyClock) {
    this.clock = clock
  }

  /** Adds a request. True if the caller has sent an equal share or more. */
  hasEqualShare(subject: string, cost: number): boolean {
    this.turn(this.clock())
    this.total.current += cost
    const own = (this.current.get(subject) ?? 0) + cost
    if (own === cost && this.current.size >= maxCallers) return true
    this.current.set(subject, own)
    const callers = Math.max(this.current.size, this.last.size)
    return (own + (this.last.get(subject) ?? 0)) * callers >= this.total.current + this.total.last
  }

  private turn(now: number): void {
    const age = now - this.startedAt
    if (age < shareWindowMs) return
    const isNext = age < 2 * shareWindowMs
    this.last = isNext ? this.current : new Map()
    this.total = { current: 0, last: isNext ? this.total.current : 0 }
    this.current = new Map()
    this.startedAt = now
  }
}
