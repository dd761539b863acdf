import { expect, test } from 'vitest'
import { Fault } from '../../domain/fault.ts'
import { causeOf, describeError, eventOf } from './events.ts'

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
    stack: expect.arrayContaining([expect.stringContaining('events.test.ts')]),
  })
  expect(JSON.stringify(facts)).not.toContain('canary')
  expect(facts.stack.length).toBeLessThanOrEqual(12)
})

test('a thrown value that is not an error is logged with its type only', () => {
  expect(describeError('canary')).toEqual({ name: 'string', message: '', stack: [] })
  expect(causeOf(new Fault('failed', 'No.'))).toBeUndefined()
})

const search = { what: 'search', provider: 'alpha', result: 'failed', at: 0, creates: 3 } as const

test('a search that failed is logged once for all of its creates, with its cause', () => {
  expect(eventOf({ what: 'create', provider: 'alpha', outcome: 'lookupFailed' }, 'now')).toBeUndefined()
  expect(eventOf({ what: 'search', provider: 'alpha', result: 'read', at: 0 }, 'now')).toBeUndefined()
  const common = { time: 'now', event: 'search', provider: 'alpha', outcome: 'lookup_failed', creates: 3 }
  const mistake = Fault.from(new TypeError('text is not iterable'))
  expect(eventOf({ ...search, fault: mistake }, 'now')).toEqual({
    ...common,
    level: 'error',
    reason: 'internal',
    error: expect.objectContaining({ name: 'TypeError', message: 'text is not iterable', stack: expect.any(Array) }),
  })
  const broken = new Fault('unavailable', 'The list ends before its total.')
  expect(eventOf({ ...search, fault: broken }, 'now')).toMatchObject({
    ...common,
    level: 'warn',
    error: { name: 'Fault', message: 'The list ends before its total.' },
  })
  const unreachable = new Fault('unreachable', 'No.', {
    failureCause: 'refused',
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  })
  expect(eventOf({ ...search, fault: unreachable }, 'now')).toMatchObject({ error: { cause: 'refused', code: 'ECONNREFUSED' } })
})
