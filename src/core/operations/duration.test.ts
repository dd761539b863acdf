import { expect, test } from 'vitest'
import { toDuration } from './duration.ts'

test.each([
  ['0', 0],
  ['45', 45_000],
  ['45s', 45_000],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['90d', 7_776_000_000],
  ['36500d', 3_153_600_000_000],
])('%s is %i milliseconds', (text, milliseconds) => {
  expect(toDuration(text)).toBe(milliseconds)
})

test.each(['', 'd', '-1', '+1', '1.5h', '1e3', ' 1', '1 d', '1w', '1D', '1h30m', '36501d', '99999999999', '9'.repeat(400)])(
  '"%s" is no duration',
  (text) => {
    expect(toDuration(text)).toBeUndefined()
  },
)
