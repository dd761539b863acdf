import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTraceparent, recordTraces } from './trace.ts'

const hex = (length: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const named = (length: number) => hex(length).filter((id) => /[^0]/.test(id))

test('every traceparent of version 00 is read, whatever its flags', () => {
  fc.assert(
    fc.property(named(32), named(16), hex(2), (traceId, spanId, flags) => {
      expect(readTraceparent(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId })
      expect(readTraceparent(`00-${traceId}-${spanId}-${flags}-more`)).toBeUndefined()
      expect(readTraceparent(`01-${traceId}-${spanId}-${flags}-more`)).toEqual({ traceId, spanId })
    }),
  )
})

test('anything else is none', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readTraceparent(text)).toBeUndefined()
    }),
  )
  expect(readTraceparent(undefined)).toBeUndefined()
})

test('a generated traceparent can be parsed', () => {
  const root = recordTraces(1, () => {}).begin('server', 'HTTP', [])
  expect(root.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(readTraceparent(root.traceparent)).toEqual({ traceId: root.trace.id, spanId: root.id })
})
