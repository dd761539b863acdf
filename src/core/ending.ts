import type { Fault } from '../domain/fault.ts'

/** How a call ended. `unconnected`: the failure cannot lie in what was asked. `unsaid`: it tells nothing of how the provider is. */
export type Ending = 'answered' | 'failed' | 'unconnected' | 'unsaid'

/** What the provider says of a question is an answer. `hadTime`: whether it could have answered. */
export function endingOf({ kind, certain, provider }: Fault, hadTime: boolean): Ending {
  if (kind === 'unreachable') return 'unconnected'
  if (kind === 'timedOut') return hadTime ? 'failed' : 'unsaid'
  if (kind === 'unreadable') return 'failed'
  if (kind === 'failed') return certain ? 'answered' : 'failed'
  return provider === undefined ? 'unsaid' : 'answered'
}
