import { expect, test } from 'vitest'
import { type ErrorType, errorTypeOf, errorTypes } from './error-type.ts'
import { Fault, type FaultDetails, type FaultKind, faultKinds } from './fault.ts'

test('a request without a fault has none', () => {
  expect(errorTypeOf(undefined)).toBe('none')
})

test('every kind of fault has a type from the list', () => {
  for (const kind of faultKinds) expect(errorTypes).toContain(errorTypeOf(new Fault(kind, '')))
})

const incomplete = new Fault('timedOut', '')

test.each<[FaultKind, FaultDetails, ErrorType]>([
  ['limited', {}, 'limit_client'],
  ['limited', { reason: 'unverified_limited' }, 'limit_unverified'],
  ['limited', { provider: 'alpha' }, 'provider_limited'],
  ['unavailable', { unavailableCause: 'limited', provider: 'alpha' }, 'provider_limited'],
  ['unavailable', { reason: 'overloaded' }, 'limit_overload'],
  ['unavailable', { unavailableCause: 'budget' }, 'limit_budget'],
  ['unavailable', { unavailableCause: 'cooldown' }, 'provider_cooldown'],
  ['unavailable', { reason: 'ledger_unavailable', noEffect: true }, 'gateway_ledger'],
  ['unavailable', { cause: incomplete }, 'provider_timed_out'],
  ['unavailable', { cause: new Error('x') }, 'provider_failed'],
  ['failed', { provider: 'alpha', noEffect: true }, 'provider_refused'],
  ['failed', { provider: 'alpha' }, 'provider_failed'],
  ['notFound', { provider: 'alpha' }, 'caller_not_found'],
  ['internal', { cause: new Error('x') }, 'gateway_internal'],
])('%s with %o is %s', (kind, details, type) => {
  expect(errorTypeOf(new Fault(kind, '', details))).toBe(type)
  expect(errorTypeOf(new Fault(kind, '').with(details))).toBe(type)
})
