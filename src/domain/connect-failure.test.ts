import { expect, test } from 'vitest'
import { connectFailureOf } from './connect-failure.ts'
import { Fault } from './fault.ts'

test.each([
  ['ENOTFOUND', 'dns_not_found'],
  ['dns_timeout', 'dns_timeout'],
  ['EAI_AGAIN', 'dns_failed'],
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'no_route'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timed_out'],
  ['ECONNRESET', 'reset'],
  ['CERT_HAS_EXPIRED', 'certificate'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
  ['EPROTO', 'tls'],
  ['SOMETHING_NEW', 'other'],
])('%s is %s, also as the cause of a cause', (code, failure) => {
  const cause = Object.assign(new Error('no'), { code })
  const fault = new Fault('unreachable', 'No.', { cause })
  expect([fault, new Fault('unreachable', 'No.', { cause: fault })].map(connectFailureOf)).toEqual([failure, failure])
})

test('a fault without a cause is that of its deadline', () => {
  expect(connectFailureOf(new Fault('timedOut', 'Late.', { effect: 'refused' }))).toBe('timed_out')
})
