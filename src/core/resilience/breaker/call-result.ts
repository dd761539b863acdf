import type { Fault } from '../../../domain/faults/fault.ts'

/** How a call ended. `unconnected`: the failure cannot lie in what was asked. `ignored`: it tells nothing of how the provider is. */
export type CallResult = 'responded' | 'failed' | 'unconnected' | 'ignored'

/** What the provider says of a question is an answer. `hadTime`: whether it could have answered. */
export function callResultOf({ kind, noEffect, provider }: Fault, hadTime: boolean): CallResult {
  if (kind === 'unreachable') return 'unconnected'
  if (kind === 'timedOut') return hadTime ? 'failed' : 'ignored'
  if (kind === 'unreadable') return 'failed'
  if (kind === 'failed') return noEffect ? 'responded' : 'failed'
  return provider === undefined ? 'ignored' : 'responded'
}
