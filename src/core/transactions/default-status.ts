import { Fault } from '../../domain/fault.ts'
import type { ServiceResponse } from '../../domain/service.ts'
import { type Layer, mapResponses } from '../layer.ts'

/** Sets the status of a create to `wait` if the provider's status is unknown (docs/contract.md §3.7). */
export function defaultStatus(): Layer {
  return mapResponses({
    createTransaction: (response) => ({ ...response, body: { ...response.body, status: response.body.status ?? 'wait' } }),
  })
}

/** Returns the response. Throws `unreadable` if no status is known, neither reported now nor stored. */
export function requireStatus(response: ServiceResponse<'getTransaction'>): ServiceResponse<'getTransaction'> {
  if (response.body.status !== undefined) return response
  const message = 'The provider gave a status that is not known; please try again later.'
  throw new Fault('unreadable', message, { ...(response.provider !== undefined && { provider: response.provider }) })
}
