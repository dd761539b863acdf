import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readRetryAfter } from './http.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-26T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

it.each([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['5', 5],
  ['0', 1],
  ['0.2', 1],
  ['1.5', 2],
  ['3600', 3_600],
  ['999999999', 3_600],
  ['99999999999999999999', 3_600],
  ['Thu, 26 Nov 2026 12:01:30 GMT', 90],
  ['Thursday, 26-Nov-26 12:01:30 GMT', 90],
  ['Thu, 26 Nov 2026 11:00:00 GMT', 1],
  ['Fri, 26 Nov 2066 12:01:30 GMT', 3_600],
  ['5, 7', 7],
  ['7,5', 7],
  ['soon, 7', 7],
  ['Thu, 26 Nov 2026 12:01:30 GMT, 5', 90],
  [['5', '60'], 60],
  [['Thu, 26 Nov 2026 12:01:30 GMT', '5'], 90],
])('%j is %j', (value, seconds) => {
  expect(readRetryAfter(value)).toBe(seconds)
})

it.each([
  ['Thu, 26 Nov 2026 13:00:00 GMT', 90],
  ['not a date', 3_600],
  ['Thu, 26 Nov 2026 15:00:00 GMT', 1],
])('a date is by the clock of the server: %s', (date, seconds) => {
  expect(readRetryAfter('Thu, 26 Nov 2026 13:01:30 GMT', date)).toBe(seconds)
})
