import { LookupTimeout, rootCauseOf } from '../../../domain/faults/connect-failure.ts'
import type { Fault } from '../../../domain/faults/fault.ts'

/** How a call ended. `unconnected`: no connection, so the request is not the cause. `ignored`: no sign of the provider's health. */
export type CallResult = 'responded' | 'failed' | 'unconnected' | 'ignored'

/**
 * Classifies a fault. A 4xx of the provider counts as `responded`. `hadTime`: whether the provider had enough time to respond.
 * `isOfRequest`: a failure after the connection may be
 * the request's own, and says nothing about the provider.
 */
export function callResultOf(fault: Fault, hadTime: boolean, isOfRequest = false): CallResult {
  const result = resultOf(fault, hadTime)
  return result === 'failed' && isOfRequest ? 'ignored' : result
}

function resultOf(fault: Fault, hadTime: boolean): CallResult {
  const { kind, noEffect, provider } = fault
  if (kind === 'unreachable') return wasLookedUp(fault) ? 'unconnected' : 'ignored'
  if (kind === 'timedOut') return hadTime ? 'failed' : 'ignored'
  if (kind === 'unreadable') return 'failed'
  if (kind === 'failed') return noEffect ? 'responded' : 'failed'
  return provider === undefined ? 'ignored' : 'responded'
}

/** Not where the names of other hosts took all threads. */
function wasLookedUp(fault: Fault): boolean {
  const cause = rootCauseOf(fault)
  return !(cause instanceof LookupTimeout && !cause.hasBegun)
}
