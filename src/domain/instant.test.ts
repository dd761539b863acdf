import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instantsOf, isTimezone, toInstant, toTimeRange } from './instant.ts'

const two = (value: number): string => String(value).padStart(2, '0')
const day = fc
  .record({
    year: fc.integer({ min: 0, max: 9999 }),
    month: fc.integer({ min: 1, max: 12 }),
    date: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ year, month, date }) => `${String(year).padStart(4, '0')}-${two(month)}-${two(date)}`)
const time = fc.tuple(fc.nat(23), fc.nat(59), fc.nat(59)).map((parts) => parts.map(two).join(':'))
const part = fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,9}$/))
const zone = fc.oneof(
  fc.constantFrom('Z', 'z'),
  fc
    .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
    .map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`),
)

describe('a timestamp', () => {
  it('is the same instant as in Temporal, to the nanosecond', () => {
    const property = fc.property(day, fc.constantFrom('T', 't'), time, part, zone, (...parts) => {
      const text = parts.join('')
      expect(toInstant(text)).toBe(Temporal.Instant.from(text.toUpperCase()).epochNanoseconds)
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  it.each([
    ['2024-02-29T00:00:00Z', '2024-02-29T01:00:00+01:00'],
    ['2026-07-29T14:04:29.407Z', '2026-07-29T14:04:29.407000000Z'],
    ['2026-07-29T14:04:29Z', '2026-07-29t10:34:29-03:30'],
    ['2026-12-31T23:59:59Z', '2027-01-01T00:59:59+01:00'],
  ])('%s is the same instant as %s', (a, b) => {
    expect(toInstant(a)).toBe(toInstant(b))
    expect(toInstant(a)).toBeTypeOf('bigint')
  })

  it.each([
    '2026-07-29',
    '2026-07-29T14:04:29',
    '2026-07-29 14:04:29Z',
    '2026-07-29T14:04Z',
    '2026-07-29T24:00:00Z',
    '2026-07-29T23:60:00Z',
    '2026-07-29T23:59:60Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-07-00T00:00:00Z',
    '2026-7-9T00:00:00Z',
    '2026-07-29T14:04:29.Z',
    '2026-07-29T14:04:29+1:00',
    '2026-07-29T14:04:29+0100',
    '2026-07-29T14:04:29+24:00',
    '20260729T140429Z',
    '+02026-07-29T14:04:29Z',
    ' 2026-07-29T14:04:29Z',
    '2026-07-29T14:04:29Z\n',
    '1785333869',
    '',
  ])('%j is none', (text) => {
    expect(toInstant(text)).toBeUndefined()
  })
})

describe('a date bound', () => {
  it('without a time is its whole UTC day, and the next day follows at once', () => {
    const property = fc.property(day, (text) => {
      const start = Temporal.PlainDate.from(text).toZonedDateTime('UTC')
      const next = start.add({ days: 1 }).toInstant().epochNanoseconds
      expect(toTimeRange(text)).toEqual({ first: start.toInstant().epochNanoseconds, last: next - 1n })
    })
    fc.assert(property)
  })

  it('with a time is that instant', () => {
    const moment = Temporal.Instant.from('2026-07-29T14:04:29.5+02:00').epochNanoseconds
    expect(toTimeRange('2026-07-29T14:04:29.5+02:00')).toEqual({ first: moment, last: moment })
  })

  it.each(['2026-02-29', '2026-13-01', '2026-7-1', '2026-07', '2026-07-29T14:04:29', 'today', '2026-07-29 ', ''])(
    '%j is none',
    (text) => {
      expect(toTimeRange(text)).toBeUndefined()
    },
  )
})

describe('a time of a provider', () => {
  const iso = (text: string, timezone?: string): readonly string[] =>
    instantsOf(text, timezone).map((instant) => new Date(Number(instant / 1_000_000n)).toISOString())

  it.each([
    '2026-03-01T10:20:30Z',
    '2026-03-01T12:20:30+0200',
    '2026-03-01T12:20:30+02',
    '2026-03-01 12:20:30+02:00',
    '2026-03-01 10:20:30',
    '2026-03-01 10:20:30 UTC',
    '2026-03-01T10:20:30',
    '2026-03-01T10:20:30,000000000Z',
    '20260301T102030Z',
    '20260301T122030+0200',
    '1772360430',
    '1772360430000',
    '1772360430000000',
    'Sun, 01 Mar 2026 10:20:30 GMT',
    '1 Mar 2026 12:20:30 +0200',
  ])('%s is one instant', (text) => expect(iso(text)).toEqual(['2026-03-01T10:20:30.000Z']))

  it('without seconds is the full minute', () => expect(iso('2026-03-01T10:20Z')).toEqual(['2026-03-01T10:20:00.000Z']))

  it.each(['', 'soon', '2026-02-30T10:00:00Z', '2026-13-01 10:00:00', '2026-03-01', '2026-03-01T25:00:00Z', '12345', '10:20:30'])(
    '%s cannot be read',
    (text) => expect(iso(text)).toEqual([]),
  )

  it('without a zone is in that of the configuration, in summer and in winter', () => {
    expect(iso('2026-01-15 12:00:00', 'Europe/Berlin')).toEqual(['2026-01-15T11:00:00.000Z'])
    expect(iso('2026-07-15 12:00:00', 'Europe/Berlin')).toEqual(['2026-07-15T10:00:00.000Z'])
    expect(iso('2026-07-15 12:00:00', '+08:00')).toEqual(['2026-07-15T04:00:00.000Z'])
    expect(iso('2026-07-15 12:00:00Z', 'Europe/Berlin')).toEqual(['2026-07-15T12:00:00.000Z'])
  })

  it('in an hour that is there twice, or never, has two readings', () => {
    expect(iso('2026-10-25 02:30:00', 'Europe/Berlin')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'])
    expect(iso('2026-03-29 02:30:00', 'Europe/Berlin')).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-29T00:30:00.000Z'])
  })

  it('has a zone of the IANA database, or an offset', () => {
    expect(['UTC', 'Europe/Berlin', '+08:00', 'Mars/Olympus', ''].map(isTimezone)).toEqual([true, true, true, false, false])
  })
})
