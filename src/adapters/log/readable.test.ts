import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { readable } from './readable.ts'

const time = '2026-11-20T15:04:05.678Z'
const create = {
  level: 'info',
  time,
  event: 'request',
  request_id: '6e28cf5b-5c2e-4954-8e46-ae610297a5d8',
  trace_id: undefined,
  caller: 'bfd57c22',
  operation: 'create_transaction',
  method: 'POST',
  route: '/a/api/v2/transactions',
  status: 201,
  error_type: 'none',
  reason: undefined,
  provider: 'alpha',
  seconds: 0.012345,
} as const

test('a request is a line: time, method, path, status, duration, provider, id', () => {
  expect(readable(create, false)).toBe(
    '15:04:05.678 POST  /a/api/v2/transactions 201 12.3 ms alpha 6e28cf5b-5c2e-4954-8e46-ae610297a5d8\n',
  )
})

test('a request that failed has its reason behind it, and the cause', () => {
  const error = { name: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED …' }
  const failed = { status: 502, error_type: 'provider_unreachable', reason: 'provider_failed', seconds: 1.5, error }
  expect(readable({ ...create, ...failed, level: 'warn' }, false)).toBe(
    '15:04:05.678 POST  /a/api/v2/transactions 502 1.50 s alpha 6e28cf5b-5c2e-4954-8e46-ae610297a5d8 provider_unreachable Error ECONNREFUSED: connect ECONNREFUSED …\n',
  )
})

test('a request to no path and no provider says so', () => {
  const lost = { method: 'GET', route: '', status: 404, error_type: 'caller_not_found', reason: 'path', provider: 'none' }
  expect(readable({ ...create, ...lost, seconds: 0.0004, request_id: 'mine' }, false)).toBe(
    '15:04:05.678 GET   (unknown path) 404 0.4 ms - mine path\n',
  )
})

test('an event is its level, its name, its message, and the rest as pairs; lists are below', () => {
  const details = ['limits.quotes must be an integer from 1', 'routing: \u001b[31m']
  expect(
    readable(
      {
        level: 'error',
        time,
        event: 'reload',
        message: 'reload rejected: still running the previous configuration',
        hash: undefined,
        details,
      },
      false,
    ),
  ).toBe(`15:04:05.678 error reload reload rejected: still running the previous configuration
  - limits.quotes must be an integer from 1
  - routing: \\u001b[31m
`)
  expect(readable({ level: 'warn', time, event: 'breaker', provider: 'alpha', state: 'open' }, false)).toBe(
    '15:04:05.678 warn  breaker provider=alpha state=open\n',
  )
})

test('the stack of an error is below its line', () => {
  const error = { name: 'TypeError', message: 'x is not a function', stack: ['at run (file.ts:1:2)'] }
  expect(readable({ level: 'fatal', time, event: 'failure', message: 'an error that nothing handled', error }, false)).toBe(
    '15:04:05.678 fatal failure an error that nothing handled TypeError: x is not a function\n    at run (file.ts:1:2)\n',
  )
})

test('with colours it has the same text', () => {
  const coloured = readable(create, true)
  expect(coloured).toContain('\u001b[32m201\u001b[0m')
  expect(stripVTControlCharacters(coloured)).toBe(readable(create, false))
})

test('no text of others controls the terminal', () => {
  const hostile = { ...create, request_id: '\u001b[31mred\n\u009bx' }
  expect(readable(hostile, false)).toBe('15:04:05.678 POST  /a/api/v2/transactions 201 12.3 ms alpha "\\u001b[31mred\\n\\u009bx"\n')
  expect(readable({ level: 'warn', time, event: 'x', message: 'one\ntwo', provider: '\u009b' }, false)).toBe(
    '15:04:05.678 warn  x one\\u000atwo provider="\\u009b"\n',
  )
})
