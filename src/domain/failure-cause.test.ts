import { expect, test } from 'vitest'
import { LookupTimeout, unreachableCauseOf } from './failure-cause.ts'

const withCode = (code: string): Error => Object.assign(new Error('no'), { code })

test.each([
  ['ENOTFOUND', 'dns_not_found'],
  ['EAI_AGAIN', 'dns_failed'],
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'no_route'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timed_out'],
  ['ECONNRESET', 'reset'],
  ['CERT_HAS_EXPIRED', 'tls_expired'],
  ['CERT_NOT_YET_VALID', 'tls_expired'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_untrusted'],
  ['CERT_REVOKED', 'tls_untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_wrong_name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'not_tls'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls_failed'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_failed'],
  ['EPROTO', 'tls_failed'],
  ['SOMETHING_NEW', 'other'],
])('%s is %s, also as the cause of a cause', (code, cause) => {
  const error = withCode(code)
  expect([error, new Error('No.', { cause: error })].map(unreachableCauseOf)).toEqual([cause, cause])
})

test('of a name with several addresses it is the cause of one that could be tried', () => {
  const errors = [withCode('ENETUNREACH'), withCode('ECONNREFUSED')]
  expect(unreachableCauseOf(Object.assign(new AggregateError(errors), { code: 'ENETUNREACH' }))).toBe('refused')
  expect(unreachableCauseOf(new AggregateError([withCode('ENETUNREACH')]))).toBe('no_route')
})

test('a silent name server, and what is no error', () => {
  expect([new LookupTimeout(true), 'no', undefined].map(unreachableCauseOf)).toEqual(['dns_timeout', 'other', 'other'])
})
