/** Who takes a quote or a create: the first of the list that can (`spec/contract.md` §12). */
import { Fault, type FaultKind } from '../domain/fault.ts'
import type { Answer, Context, Request, SwapService } from '../domain/operations.ts'

export interface Candidate {
  /** The provider's tag. */
  readonly tag: string
  readonly service: SwapService
}

type Sought = 'getRate' | 'createTransaction'

interface Taken<O extends Sought> {
  readonly tag: string
  readonly answer: Answer<O>
}

/** Throws what the first candidate that offers the pair said; the first one's refusal where none does. */
export async function firstOf<O extends Sought>(
  candidates: readonly Candidate[],
  op: O,
  request: Request<O>,
  context: Context,
): Promise<Taken<O>> {
  let refusal: Fault | undefined
  for (const { tag, service } of candidates) {
    try {
      return { tag, answer: await service.call(op, request, context) }
    } catch (reason) {
      const fault = Fault.from(reason)
      if (!passesOn(op, fault)) throw fault
      if (!refusal || (isNoOffer(refusal) && !isNoOffer(fault))) refusal = fault
    }
  }
  throw refusal
}

const failures: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'unreachable',
  'unreadable',
  'failed',
  'accessRefused',
  'timedOut',
  'unavailable',
])

/** A quote may be asked anywhere; a create elsewhere only where no byte of it can have reached the provider. */
function passesOn(op: Sought, fault: Fault): boolean {
  if (isNoOffer(fault)) return true
  return op === 'getRate' ? failures.has(fault.kind) : fault.kind === 'unreachable' && fault.certain
}

/** What no provider has said: the asset or the extra id is refused before anything is sent. */
function isNoOffer({ kind, provider }: Fault): boolean {
  return kind === 'invalid' && provider === undefined
}
