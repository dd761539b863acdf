import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { Fault } from '../../domain/fault.ts'
import { causeOf, describeError, formatForTerminal } from './index.ts'

test.each([
  ["Cannot read properties of undefined (reading 'id')", "Cannot read properties of undefined (reading 'id')"],
  ['Unexpected token, "canary-key" is not valid JSON', 'Unexpected token, "…" is not valid JSON'],
  ['Unexpected token, "cut in the midd', 'Unexpected token, "…"'],
  ['the key own-key-1 is refused', 'the key … is refused'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED …'],
  ['to bcqxyzbcqxyzbcqxyzbcqxyzbcqxyz', 'to …'],
  ['postgres://user@host refused', '… refused'],
])('the message %s is logged as %s', (message, logged) => {
  expect(describeError(new TypeError(message)).message).toBe(logged)
})

test('an error is logged with its name, its code and its origin, each once', () => {
  const error = Object.assign(new RangeError('sent\n    at canary-1 in a line of its own'), { code: 'ERR_X', key: 'canary' })
  const facts = describeError(error)
  expect(facts).toMatchObject({
    name: 'RangeError',
    code: 'ERR_X',
    stack: expect.arrayContaining([expect.stringContaining('index.test.ts')]),
  })
  expect(JSON.stringify(facts)).not.toContain('canary')
  expect(facts.stack.length).toBeLessThanOrEqual(12)
})

test('a thrown value that is not an error is logged with its type only', () => {
  expect(describeError('canary')).toEqual({ name: 'string', message: '', stack: [] })
  expect(causeOf(new Fault('failed', 'No.'))).toBeUndefined()
})

test('a readable line: the time, the level, the event, and the rest as pairs', () => {
  const line = formatForTerminal(
    `${JSON.stringify({ level: 'warn', time: '2026-11-20T15:04:05.678Z', event: 'request', route: '/a/api/v2/transactions/{id}', status: 504 })}\n`,
  )
  expect(stripVTControlCharacters(line)).toBe('15:04:05.678 warn  request route=/a/api/v2/transactions/{id} status=504\n')
})

test('control characters stay escaped', () => {
  const line = formatForTerminal(
    `${JSON.stringify({ level: 'error', time: '2026-11-20T15:04:05.678Z', event: 'reload', warnings: ['\u001b[31mred\n\u009bx'] })}\n`,
  )
  expect(line).toContain('\\u001b[31mred\\n\\u009bx')
})
