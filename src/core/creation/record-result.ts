import { compareAmounts } from '../../domain/amount.ts'
import { singleFlight, withTimeout } from '../../domain/async.ts'
import {
  DepositInUse,
  Fault,
  isCausedBy,
  LedgerConflict,
  QuoteNotHeld,
  TooManyOpenCreates,
  UncertainChange,
} from '../../domain/fault.ts'
import type { CreateOutcome, Observer } from '../../domain/observation.ts'
import { type Capabilities, ownerOf, type ServiceResponse } from '../../domain/service.ts'
import { requestedAmountOf, type Transaction } from '../../domain/swap.ts'
import type { DepositClaim, Intent, LedgerChanges, TransactionRecord } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { type JudgedCreate, type RecordCreate, unknownOutcome } from './creation.ts'
import { type OtherDeposits, takingDeposit } from './other-deposits.ts'

/**
 * Stores the result of a create in the ledger before the client gets the response (docs/contract.md §10). Throws
 * `contradicted` if the response contradicts the request, or another open swap has its deposit address: the ledger keeps it, and the client
 * gets no deposit address. Throws `outcomeUnknown` if the ledger fails.
 */
export function recordResult(scope: ProviderScope): RecordCreate {
  const { journal, tag: provider, capabilities, clock, observe, pendingKeys, timelines, createdHere } = scope
  const count = (outcome: CreateOutcome): void => observe({ what: 'create', provider, outcome })
  return async (created, request, context) => {
    const { response, intent, contradicted, judged, deposit } = created
    const { body, derived } = response
    const refuse = async (fields: readonly string[], judgement = judged): Promise<never> => {
      count('contradicted')
      await journal.markMismatch(intent, body, fields, judgement).catch(() => {})
      throw contradiction(provider)
    }
    if (context.timeline) timelines.add({ intent }, context.timeline.take())
    if (contradicted.length > 0) return refuse(contradicted)
    // The gateway itself may have rounded the amount.
    const field = request.amountOut === undefined ? 'amountIn' : 'amountOut'
    const amount = derived?.includes(field) ? undefined : body[field]
    if (amount !== undefined && compareAmounts(amount, requestedAmountOf(request)) !== 0) count('otherAmount')
    const record = recordOf(response, capabilities, clock())
    const outcome = await complete(created, record, journal).catch((reason) => {
      pendingKeys?.keep(context.caller)
      throw unknownOutcome(Fault.from(reason), provider)
    })
    deposit.observe(outcome === 'depositTaken' || outcome === 'depositShared')
    if (outcome === 'depositTaken') return refuse(['depositAddress'], deposit.judgedIfTaken)
    if (outcome !== 'duplicateId') {
      createdHere?.note({ ...record, isCreated: true, owner: ownerOf(context), provider })
      return response
    }
    count('duplicateId')
    throw contradiction(provider)
  }
}

/** `depositShared`: another open swap has its deposit address, which is only counted. */
async function complete(
  { intent, judged, deposit }: JudgedCreate,
  record: TransactionRecord,
  journal: LedgerChanges,
): Promise<'accepted' | 'duplicateId' | 'depositTaken' | 'depositShared'> {
  const { isRefused, judgedIfTaken } = deposit
  const later = isRefused ? { judgedIfTaken } : {}
  const store = (claim: DepositClaim): Promise<boolean> => journal.complete(intent, record, judged, { ...claim, ...later })
  const isAccepted = await takingDeposit(store, deposit.claimAfter)
  if (isAccepted !== 'depositTaken') return isAccepted ? 'accepted' : 'duplicateId'
  if (isRefused) return 'depositTaken'
  return (await store({ isShared: true })) ? 'depositShared' : 'duplicateId'
}

/** `amountOut` of the response is the quoted amount, unless the form has expected amounts. */
function recordOf(
  { body, derived = [], sequence }: ServiceResponse<'createTransaction'>,
  capabilities: Capabilities,
  reportedAt: number,
): TransactionRecord {
  const { amountOut, ...withoutAmount } = body
  const transaction: Transaction = capabilities.hasExpectedAmount ? body : withoutAmount
  return { transaction, derived, quotedAmountOut: amountOut, reportedAt, sequence }
}

/** The `Fault` of a create whose response contradicts its request. A repeat with the same `Idempotency-Key` gets it too. */
export function contradiction(provider: string): Fault {
  const message =
    "The provider's answer was not what you asked for: do not pay for it. No deposit address is given, and the operator is told."
  return new Fault('contradicted', message, { provider })
}

/** The `Fault` of a repeated create whose transaction has failed since. */
export function failure(provider: string): Fault {
  const message =
    'The provider reports that this swap has failed: do not pay for it. No deposit address is given; please ask the operator.'
  return new Fault('contradicted', message, { provider })
}

// Results of creates that the ledger could not store: kept in memory and retried (docs/contract-operators.md §10.4).

const defaults = { maxResults: 1_000, firstPauseMs: 100, maxPauseMs: 5_000 }

/** An option that is absent is that of `defaults`. */
interface DeferredResultsOptions {
  readonly observe: Observer
  /** Largest number of results. Further ones are left to reconciliation. */
  readonly maxResults?: number
  /** Pause before the first retry, and the longest pause after repeated failures. */
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
}

interface Deferred {
  readonly provider: string
  /** False where its id is another create's: then it is a mismatch. */
  readonly write: () => Promise<unknown>
  /** Of an intent that nothing was sent for: results are written before it. */
  readonly isWithdrawal: boolean
  attempts: number
}

/** After this number of failures a result moves to the end of the queue. */
const maxAttempts = 5
/** How long `close` waits for the ledger. */
const closeTimeoutMs = 2_000

/** Retries failed ledger writes in the background, in order. */
export class DeferredResults {
  private readonly options: Required<DeferredResultsOptions>
  /** By intent, oldest first. */
  private readonly pending = new Map<string, Deferred>()
  /** Intents whose result is being written by their own request. */
  private readonly recording = new Set<string>()
  private pauseMs: number
  private timer: NodeJS.Timeout | undefined
  private readonly flushing = singleFlight(() => this.writeAll())
  private isClosed = false

  constructor(options: DeferredResultsOptions) {
    this.options = { ...defaults, ...options }
    this.pauseMs = this.options.firstPauseMs
  }

  /** The changes of creates at one provider: a failed write still rejects, and is retried later. */
  changesAt(provider: string, journal: LedgerChanges, otherDeposits: OtherDeposits): LedgerChanges {
    /** Nobody waits: a deposit address that another open swap has by the ledger is judged without a look at that one. */
    const completeLater: LedgerChanges['complete'] = async (intent, record, judged, { judgedIfTaken } = {}) => {
      const { transaction } = record
      const store = (claim: DepositClaim): Promise<boolean> => journal.complete(intent, record, judged, claim)
      const isAccepted = await takingDeposit(store, () => otherDeposits.claimAfter(transaction))
      if (isAccepted !== 'depositTaken') return isAccepted
      if (!judgedIfTaken) return await store({ isShared: true })
      await journal.markMismatch(intent, transaction, ['depositAddress'], judgedIfTaken)
      this.count(provider, 'contradicted')
      return true
    }
    return {
      begin: (intent, isAwaited) =>
        journal.begin(intent, isAwaited).catch((reason) => {
          // Nothing is sent now. If the intent was stored after all, its key must become free again.
          if (isCausedBy(reason, UncertainChange)) this.defer(intent.id, provider, () => withdraw(journal, intent), true)
          throw reason
        }),
      complete: (intent, ...result) =>
        this.record(
          intent,
          provider,
          () => journal.complete(intent, ...result),
          () => completeLater(intent, ...result),
        ),
      markMismatch: (intent, ...result) => this.record(intent, provider, () => journal.markMismatch(intent, ...result)),
      drop: (intent, checkAt) => this.record(intent, provider, () => journal.drop(intent, checkAt)),
      markUnknown: journal.markUnknown,
      bindFound: journal.bindFound,
      upsert: journal.upsert,
    }
  }

  /** Whether this process has a result of the create that the ledger has not confirmed: nobody looks for it, no repeat gets it. */
  isDeferred(intent: string): boolean {
    return this.pending.has(intent) || this.recording.has(intent)
  }

  /** Retries once more. The remaining creates are found by reconciliation after the next start. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await withTimeout(this.flushing.run(), closeTimeoutMs, () => {})
    for (const { provider } of this.pending.values()) this.count(provider, 'abandoned')
    this.pending.clear()
    this.reportHeld()
  }

  private async record<T>(intent: string, provider: string, write: () => Promise<T>, later: () => Promise<T> = write): Promise<T> {
    this.recording.add(intent)
    try {
      return await write()
    } catch (reason) {
      if (isCausedBy(reason, LedgerConflict)) this.count(provider, 'conflicting')
      else if (!(reason instanceof DepositInUse)) this.defer(intent, provider, later)
      throw reason
    } finally {
      this.recording.delete(intent)
    }
  }

  private defer(intent: string, provider: string, write: () => Promise<unknown>, isWithdrawal = false): void {
    const isFull = this.pending.size >= this.options.maxResults
    this.count(provider, isFull ? 'abandoned' : 'unrecorded')
    if (isFull) return
    this.pending.set(intent, { provider, write, isWithdrawal, attempts: 0 })
    this.reportHeld()
    this.flushLater()
  }

  private flushLater(): void {
    if (this.timer !== undefined || this.isClosed) return
    this.timer = setTimeout(() => {
      void this.flushing.run().finally(() => {
        this.timer = undefined
        if (this.pending.size > 0) this.flushLater()
      })
    }, this.pauseMs)
    this.timer.unref()
  }

  /** Results, then withdrawals: of each one after another, until one fails. */
  private async writeAll(): Promise<void> {
    const { false: results = [], true: withdrawals = [] } = Object.groupBy(
      this.pending,
      ([, { isWithdrawal }]) => `${isWithdrawal}`,
    )
    await this.writeUntilFailure(results)
    await this.writeUntilFailure(withdrawals)
  }

  private async writeUntilFailure(all: readonly (readonly [string, Deferred])[]): Promise<void> {
    for (const [intent, deferred] of all) {
      try {
        const isAccepted = await deferred.write()
        if (isAccepted === false) this.count(deferred.provider, 'duplicateId')
        this.finish(intent, deferred, 'recorded')
        this.pauseMs = this.options.firstPauseMs
      } catch (reason) {
        if (isCausedBy(reason, LedgerConflict)) this.finish(intent, deferred, 'conflicting')
        else return this.fail(intent, deferred)
      }
    }
  }

  private finish(intent: string, { provider }: Deferred, outcome: CreateOutcome): void {
    this.pending.delete(intent)
    this.reportHeld()
    this.count(provider, outcome)
  }

  private fail(intent: string, deferred: Deferred): void {
    this.pauseMs = Math.min(2 * this.pauseMs, this.options.maxPauseMs)
    deferred.attempts++
    if (deferred.attempts < maxAttempts) return
    this.pending.delete(intent)
    this.pending.set(intent, { ...deferred, attempts: 0 })
  }

  private reportHeld(): void {
    this.options.observe({ what: 'resultsHeld', count: this.pending.size })
  }

  private count(provider: string, outcome: CreateOutcome): void {
    this.options.observe({ what: 'create', provider, outcome })
  }
}

/** Begins it once more, since that waits for the uncertain change. One that is refused now was never stored. */
async function withdraw(journal: LedgerChanges, intent: Intent): Promise<void> {
  const isStored = await journal.begin(intent).catch((reason) => {
    if (isCausedBy(reason, QuoteNotHeld) || isCausedBy(reason, TooManyOpenCreates)) return false
    throw reason
  })
  if (isStored) await journal.drop(intent.id)
}
