import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { parseQuery, printQuery } from './request.ts'
import { WireError } from './wire-error.ts'

function read(query: string): readonly (readonly [string, string])[] {
  const taken: [string, string][] = []
  parseQuery(query, (name, value) => taken.push([name, value]))
  return taken
}

describe('a query', () => {
  it('reads as it was printed, whatever the values hold', () => {
    const name = fc.stringMatching(/^[A-Za-z]{1,12}$/)
    const property = fc.property(fc.array(fc.tuple(name, fc.string({ unit: anyCharacter }))), (parameters) => {
      expect(read(printQuery(parameters))).toEqual(parameters)
    })
    fc.assert(property)
  })

  it.each([
    ['', []],
    ['a=1', [['a', '1']]],
    [
      'a=1&a=2',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['a=1=2', [['a', '1=2']]],
    ['a=b+c', [['a', 'b c']]],
    ['a=1e%2B8', [['a', '1e+8']]],
    ['%61=%31', [['a', '1']]],
    [
      'a=1&',
      [
        ['a', '1'],
        ['', ''],
      ],
    ],
  ])('%j holds each parameter that was sent, as often as it was', (query, expected) => {
    expect(read(query)).toEqual(expected)
  })

  it.each(['a=%', 'a=%2', 'a=%zz', 'a=%ff', '%c3=1', 'a=%ed%a0%80'])('%j is refused: it is not percent-encoded UTF-8', (query) => {
    expect(() => read(query)).toThrow(WireError)
  })
})
