/** The steps of a create at one provider (docs/contract.md §10). Each has its own type: in another order they do not compile. */
import { ContextKey, valueIn, withValue } from '../../domain/context-values.ts'
import { Fault } from '../../domain/fault.ts'
import type { Context, ServiceResponse, SwapService } from '../../domain/service.ts'
import type { NewTransaction } from '../../domain/swap.ts'
import { compose, type Layer, onOperations } from '../layer.ts'
import type { JudgedAsset } from '../mismatch-streaks.ts'
import type { DepositClaim, UnknownReason } from '../ports/ledger.ts'
import { unreachableInTime } from '../sent-once.ts'
import { inSpan, traced } from '../traced.ts'

export type CreateResponse = ServiceResponse<'createTransaction'>

/** A create that its provider has. */
export interface SentCreate {
  /** Its id in the ledger. */
  readonly intent: string
  readonly response: CreateResponse
}

/** One whose response was compared with its request. */
export interface VerifiedCreate extends SentCreate {
  /** Fields for which nobody may get it. */
  readonly contradicted: readonly string[]
}

/** One that was judged. */
export interface JudgedCreate extends VerifiedCreate {
  /** What it says about its assets. */
  readonly judged: readonly JudgedAsset[]
  readonly deposit: JudgedDeposit
}

/** A deposit address that another swap may have: the ledger says so when the result is stored. */
export interface JudgedDeposit {
  /** Whether nobody gets it then. */
  readonly isRefused: boolean
  /** What is judged of its assets then. */
  readonly judgedIfTaken: readonly JudgedAsset[]
  /** As `OtherDeposits`. */
  readonly claimAfter: () => Promise<DepositClaim | undefined>
  /** Counts the judgement. */
  readonly observe: (isTaken: boolean) => void
}

/** Stores the intent of a create, then sends it. */
export type SendCreate = (request: NewTransaction, context: Context, provider: SwapService) => Promise<SentCreate>

/** Compares a response with its request. */
export type VerifyCreate = (sent: SentCreate, request: NewTransaction, context: Context) => VerifiedCreate

/** Says whether the swap may become payable. */
export type JudgeCreate = (verified: VerifiedCreate, request: NewTransaction, context: Context) => Promise<JudgedCreate>

/** Stores the result of a create. Throws if the client must not get the response. */
export type RecordCreate = (judged: JudgedCreate, request: NewTransaction, context: Context) => Promise<CreateResponse>

export interface CreateSteps {
  /** Tag of the provider. */
  readonly provider: string
  readonly record: RecordCreate
  /** Between the client's terms and the provider's, outermost first. Other operations pass only these. */
  readonly layers: readonly Layer[]
  readonly judge: JudgeCreate
  readonly verify: VerifyCreate
  readonly send: SendCreate
}

/** What is done of a create where the layers end. */
const innermost = new ContextKey<(request: NewTransaction, context: Context) => Promise<CreateResponse>>(() =>
  Promise.reject(new Fault('internal', 'A create has no steps.')),
)
const ending = onOperations({ createTransaction: (request, context) => valueIn(context, innermost)(request, context) })

/** A create passes `layers` to the provider's terms, is sent, verified and judged, passes `layers` back, and is recorded. */
export function creation({ provider, record, layers, judge, verify, send }: CreateSteps): Layer {
  const create: Layer = (service) => {
    const layered = compose([...layers, ending], service)
    return onOperations({
      async createTransaction(asked, outer) {
        const done: { judged?: JudgedCreate } = {}
        const inProvidersTerms = withValue(outer, innermost, async (request, context) => {
          const sent = await inSpan('intent', context, provider, (within) => send(request, within, service))
          const verified = verify(sent, request, context)
          done.judged = await judge(verified, request, context)
          return done.judged.response
        })
        const response = await layered.call('createTransaction', asked, inProvidersTerms)
        if (!done.judged) throw unknownOutcome(new Fault('internal', 'A layer has responded to a create by itself.'), provider)
        return record({ ...done.judged, response }, asked, outer)
      },
    })(layered)
  }
  return traced('recordResult', create, provider)
}

/**
 * Classifies the outcome of a create: done, refused (nothing was created) or unknown. Every other failure becomes
 * `outcomeUnknown` (docs/contract.md §10).
 */
export async function classifyOutcome(
  pendingResponse: Promise<ServiceResponse<'createTransaction'>>,
): Promise<ServiceResponse<'createTransaction'>> {
  const response = await pendingResponse.catch((reason) => {
    throw outcomeOf(Fault.from(reason))
  })
  if (!response.body.depositAddress)
    throw unknownOutcome(new Fault('unreadable', 'The response has no deposit address.'), response.provider)
  return response
}

/** A fault without effect is kept, except a timeout: 504 means that the outcome is unknown, so it becomes `unreachable`. */
function outcomeOf(fault: Fault): Fault {
  if (fault.effect === 'maybe') return unknownOutcome(fault, fault.provider)
  return fault.kind === 'timedOut' ? unreachableInTime({ effect: 'nothingSent', cause: fault }) : fault
}

/** The `Fault` (504) of a create that may exist at the provider. */
export function unknownOutcome(cause: Fault, provider: string | undefined): Fault {
  const message =
    'The outcome is unknown: the transaction may exist. Please ask again with the same Idempotency-Key; if there was none, look for it in the list before you create it again.'
  return new Fault('outcomeUnknown', message, { cause, ...(provider !== undefined && { provider }) })
}

/** Why the outcome of a create is unknown, by the fault that says that it is. */
export function unknownReasonOf({ cause }: Fault): UnknownReason {
  const { kind, provider } = Fault.from(cause)
  if (kind === 'timedOut') return 'timed_out'
  if (kind === 'unreadable' || kind === 'contradicted') return 'unreadable'
  return provider === undefined ? 'reset' : 'failed'
}
