/** A service's fault after it passed through a form (docs/contract.md §6): the kinds that HTTP can distinguish. */
import type { Fault, FaultKind } from '../../src/domain/fault.ts'
import { keyed, type Op } from '../../src/domain/service.ts'

interface Expected {
  readonly kind: FaultKind
  readonly noEffect: boolean
  readonly message?: string
  readonly retryAfter?: number
}

export function expectedFault(op: Op, { kind, message, retryAfter }: Fault): Expected {
  if (kind === 'invalid') return { kind, noEffect: true, message }
  if (kind === 'reusedKey') return { kind: 'invalid', noEffect: true, message }
  if (kind === 'limited') return { kind, noEffect: true, ...(retryAfter !== undefined && { retryAfter }) }
  if (kind === 'unauthorized') return { kind: keyed.has(op) ? kind : 'failed', noEffect: true }
  if (kind === 'notFound') return notFound(op, message)
  return { kind: 'failed', noEffect: refusals.has(kind) || (kind === 'inProgress' && op !== 'createTransaction') }
}

/** 404 to a quote or a create means that the coin is not there; a list cannot be missing. */
function notFound(op: Op, message: string): Expected {
  if (op === 'getRate' || op === 'createTransaction') return { kind: 'invalid', noEffect: true, message }
  return { kind: 'notFound', noEffect: true, message }
}

/** 4xx but 408, and 409 to a create, with a text message: noEffect that nothing was done. */
const refusals: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'methodNotAllowed',
  'tooLarge',
  'pathTooLong',
  'unsupportedMediaType',
  'expectationFailed',
  'headersTooLarge',
])
