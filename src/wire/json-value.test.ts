import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonError, JsonNumber, parseJson, printString } from './json.ts'

describe('a number', () => {
  it.each(['0', '-0', '0.123456789012345678', '1e-8', '1.10', '1E+2', '-12.50e-03', '9'.repeat(80)])(
    '%s keeps every character',
    (lexeme) => {
      expect(parseJson(` [ ${lexeme} ] `)).toEqual([new JsonNumber(lexeme)])
    },
  )

  it.each(['01', '-01', '+1', '.5', '1.', '1.e2', '1e', '1e+', '0x10', '1_000', '--1', '-', '1,5', '١'])(
    '%s is not one',
    (text) => {
      expect(() => parseJson(text)).toThrow(JsonError)
      expect(() => parseJson(`{"a":${text}}`)).toThrow(JsonError)
    },
  )
})

it('a string is printed as JSON.stringify prints it, and reads as it was', () => {
  const property = fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
    expect(printString(text)).toBe(JSON.stringify(text))
    expect(parseJson(printString(text))).toBe(text)
  })
  fc.assert(property, { numRuns: 1_000 })
})

it('a lone surrogate is printed as an escape', () => {
  expect(printString('a\ud800b')).toBe('"a\\ud800b"')
})

it('what is wrong is told by place, never by the words themselves', () => {
  expect(() => parseJson('{"secret":oops}')).toThrow(/^not JSON at position \d+$/)
  expect(() => parseJson('{"secret":1,"secret":2}')).toThrow(/^duplicate key at position \d+$/)
})
