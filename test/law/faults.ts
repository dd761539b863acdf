/** A service's fault after it passed through a form (docs/contract.md §6): the kinds that HTTP can distinguish. */
import type { Effect, Fault, FaultKind } from '../../src/domain/fault.ts'
import { keyed, type Op } from '../../src/domain/service.ts'

interface Expected {
  readonly kind: FaultKind
  readonly effect: Effect
  readonly message?: string
  readonly retryAfter?: number
}

export function expectedFault(op: Op, { kind, message, retryAfter }: Fault): Expected {
  if (kind === 'invalid') return { kind, effect: 'refused', message }
  if (kind === 'reusedKey') return { kind: 'invalid', effect: 'refused', message }
  if (kind === 'limited') return { kind, effect: 'refused', ...(retryAfter !== undefined && { retryAfter }) }
  // 401 and 403
  if (kind === 'unauthorized' || kind === 'forbidden') return { kind: keyed.has(op) ? 'unauthorized' : 'failed', effect: 'refused' }
  if (kind === 'notFound') return notFound(op, message)
  const isRefused = refusals.has(kind) || (conflicts.has(kind) && op !== 'createTransaction')
  return { kind: 'failed', effect: isRefused ? 'refused' : 'maybe' }
}

/** 404 to a quote or a create means that the coin is not there; a list cannot be missing. */
function notFound(op: Op, message: string): Expected {
  if (op === 'getRate' || op === 'createTransaction') return { kind: 'invalid', effect: 'refused', message }
  return { kind: 'notFound', effect: 'refused', message }
}

/** 409: to a create it may mean that it exists. */
const conflicts: ReadonlySet<FaultKind> = new Set<FaultKind>(['inProgress', 'quoteExpired', 'conflict'])

/** 4xx but 408, and 409 to a create, with a text message: certainly nothing was done. */
const refusals: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'methodNotAllowed',
  'tooLarge',
  'pathTooLong',
  'unsupportedMediaType',
  'expectationFailed',
  'headersTooLarge',
])
