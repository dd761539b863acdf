import { expect, test } from 'vitest'
import { readIdempotencyKey } from './idempotency-key.ts'

const read = (value: string | undefined, repeated: readonly string[] = []): string | undefined =>
  readIdempotencyKey({ method: 'POST', path: '/', query: '', headers: { 'idempotency-key': value }, repeated }, false)

test.each([
  ['8e03978e-40d5', '8e03978e-40d5'],
  ['"8e03978e-40d5"', '8e03978e-40d5'],
  ['a', 'a'],
  ['"a\\"b\\\\c"', 'a"b\\c'],
  ['a"b\\c', 'a"b\\c'],
  ['x'.repeat(255), 'x'.repeat(255)],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
])('L10: %s is a key', (value, key) => {
  expect(read(value)).toBe(key)
})

test('L10: without the header there is no key', () => {
  expect(read(undefined)).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['empty quotes', '""'],
  ['256 characters', 'x'.repeat(256)],
  ['256 characters in quotes', `"${'x'.repeat(256)}"`],
  ['a space', 'a b'],
  ['a control character', 'a\u0001'],
  ['another alphabet', 'ключ'],
  ['one quote', '"abc'],
  ['a quote too many', '"a"b"'],
  ['parameters', '"abc";a=1'],
  ['a lone backslash in quotes', '"a\\b"'],
])('L10: %s is rejected', (_, value) => {
  expect(() => read(value)).toThrow(/^Invalid Idempotency-Key: /)
})

test('L10: a repeated header is rejected', () => {
  expect(() => read('a', ['idempotency-key'])).toThrow(/^Invalid Idempotency-Key: /)
})
