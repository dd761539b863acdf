import { Fault } from './fault.ts'

/** For a provider that serves only users whose address it gets. Nothing was sent. */
export function noPublicAddress(): Fault {
  const message = 'This swap is offered only to clients with a public network address, and this request has none.'
  return new Fault('invalid', message, { reason: 'refused', noEffect: true })
}
