import { Fault } from '../../domain/faults/fault.ts'
import type { ServiceResponse } from '../../domain/swap/service.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** A create whose status nobody has explained has only begun (docs/contract.md §3.7). */
export function defaultStatus(): Layer {
  return mapResponses({
    createTransaction: (response) => ({ ...response, body: { ...response.body, status: response.body.status ?? 'wait' } }),
  })
}

/** The same answer; a get of which no status is known, now or from before, fails. */
export function requireStatus(response: ServiceResponse<'getTransaction'>): ServiceResponse<'getTransaction'> {
  if (response.body.status !== undefined) return response
  const message = 'The provider gave a status that is not known; please try again later.'
  throw new Fault('unreadable', message, { ...(response.provider !== undefined && { provider: response.provider }) })
}
