import { Fault } from '../domain/fault.ts'
import type { Answer } from '../domain/operations.ts'
import { after, type Layer } from './layer.ts'

/** A create whose status nobody has explained has only begun (docs/contract.md §3.7). */
export function statuses(): Layer {
  return after({
    createTransaction: (answer) => ({ ...answer, body: { ...answer.body, status: answer.body.status ?? 'wait' } }),
  })
}

/** The same answer; a get of which no status is known, now or from before, fails. */
export function withStatus(answer: Answer<'getTransaction'>): Answer<'getTransaction'> {
  if (answer.body.status !== undefined) return answer
  const message = 'The provider gave a status that is not known; please try again later.'
  throw new Fault('unreadable', message, { ...(answer.provider !== undefined && { provider: answer.provider }) })
}
