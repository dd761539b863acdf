import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entityTag, matchesEtag } from './http.ts'

it('is a strong tag in quotes', () => {
  fc.assert(fc.property(fc.string(), (body) => /^"[0-9a-f-]+"$/.test(entityTag(body))))
})

it('is the same for the same bytes, and another for others', () => {
  const bodies = Array.from({ length: 50_000 }, (_, at) => `{"rate":${at}.${at % 7}}`)
  expect(new Set(bodies.map(entityTag)).size).toBe(new Set(bodies).size)
  expect(bodies.map(entityTag)).toEqual(bodies.map(entityTag))
})

it.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", W/"a" , "c"', true],
  ['*', true],
  [' * ', true],
  ['"b"', false],
  ['a', false],
  ['', false],
  ['"*"', false],
  ['"ba"', false],
])('If-None-Match %j names "a": %s', (header, expected) => {
  expect(matchesEtag('"a"', header)).toBe(expected)
})
