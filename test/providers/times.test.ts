/** docs/contract.md §16: a time is read in the form's zone and unit, or it is not of the form. */
import { expect, it } from 'vitest'
import { JsonNumber } from '../../src/wire/json.ts'
import { inZone, responseScalars, unixTime } from '../../src/wire/scalar.ts'

const east = inZone('+03:00')(responseScalars.date)
const seconds = unixTime('s')(responseScalars.date)

it.each([
  ['2026-07-29 17:04:31', '2026-07-29T17:04:31+03:00'],
  ['2026-07-29T17:04:31.123456789', '2026-07-29T17:04:31.123456789+03:00'],
  ['2026-07-29T14:04:31Z', '2026-07-29T14:04:31Z'],
  ['2026-07-29T14:04:31-05:00', '2026-07-29T14:04:31-05:00'],
  ['2028-02-29 00:00:00', '2028-02-29T00:00:00+03:00'],
])('P41: %s is a time', (text, timestamp) => {
  expect(east.fromJson(text)).toBe(timestamp)
})

it.each([
  '2026-13-29 17:04:31',
  '2026-02-30 17:04:31',
  '2026-07-29 24:04:31',
  '2026-07-29 17:60:31',
  '2026-07-29 17:04',
  '2026-07-29',
  'yesterdayZ',
  '+03:00',
  '2026-07-29T17:04:31+99:00',
  '',
])('P41: "%s" is none', (text) => {
  expect(east.fromJson(text)).toBeUndefined()
})

it.each([
  ['1785335671', '2026-07-29T14:34:31.000Z'],
  ['1785335671123', '2026-07-29T14:34:31.123Z'],
  ['1785335671123456', '2026-07-29T14:34:31.123Z'],
  ['0', '1970-01-01T00:00:00.000Z'],
  ['253402300799999999', '9999-12-31T23:59:59.999Z'],
])('P41: %s since 1970 is a time', (lexeme, timestamp) => {
  expect(seconds.fromJson(new JsonNumber(lexeme))).toBe(timestamp)
  expect(seconds.fromJson(lexeme)).toBe(timestamp)
})

it.each(['999999999999999999', '253402300800000000', '-1', '1.5', '1e9', '9'.repeat(30), ''])(
  'P41: %s since 1970 is none',
  (lexeme) => {
    expect(seconds.fromJson(new JsonNumber(lexeme))).toBeUndefined()
  },
)
