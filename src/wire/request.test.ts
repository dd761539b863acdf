import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { compilePath, compileRequest, parseQuery, printQuery } from './request.ts'
import { lowerCase, optional } from './table.ts'
import { WireError } from './wire-error.ts'

const codec = compileRequest(
  { from: lowerCase('coinFrom'), net: optional('networkFrom'), amount: 'amountIn' },
  new Set(['from', 'net']),
  false,
)

it('a line in the path is written in its notation, and not in the query', () => {
  const { path, query } = codec.encode({ coinFrom: 'BTC', networkFrom: 'Bitcoin', amountIn: '0.1' })
  expect([path, query]).toEqual([{ from: 'btc', net: 'Bitcoin' }, 'amount=0.1'])
})

it('a required line in the path is needed, an optional one is not', () => {
  expect(codec.encode({ coinFrom: 'BTC', amountIn: '0.1' }).path).toEqual({ from: 'btc' })
  expect(() => codec.encode({ networkFrom: 'Bitcoin', amountIn: '0.1' })).toThrow(WireError)
})

describe('a path without a parameter', () => {
  const path = compilePath('/transactions')

  it.each(['/Transactions', '/transactions/', '/transaction', '/transactions/1', '//transactions', '', '/'])(
    'does not fit %j',
    (other) => {
      expect(path.match(other)).toBeUndefined()
    },
  )

  it('fits itself alone', () => {
    expect(path.match('/transactions')).toEqual({})
    expect(path.fill({})).toBe('/transactions')
  })
})

describe('a path with a parameter', () => {
  const path = compilePath('/transactions/{id}')

  it('carries any text in one segment, and gives it back', () => {
    const property = fc.property(fc.string({ unit: anyCharacter }), (id) => {
      const filled = path.fill({ id })
      expect(filled).toMatch(/^\/transactions\/[\x21-\x7e]*$/)
      expect(filled.split('/')).toHaveLength(3)
      expect(filled).not.toMatch(/[?#]/)
      expect(path.match(filled)).toEqual({ id })
    })
    fc.assert(property)
  })

  it.each(['/transactions', '/transactions/a/b', '/transactions/a/', '/transactions/%', '/transactions/%ff', '/Transactions/a'])(
    'does not fit %j',
    (other) => {
      expect(path.match(other)).toBeUndefined()
    },
  )
})

describe('a path with several parameters', () => {
  const path = compilePath('/pair/{from}-{fromNetwork}/{to}-{toNetwork}')

  it('is filled with each in its place, and none begins another segment', () => {
    expect(path.parameters).toEqual(new Set(['from', 'fromNetwork', 'to', 'toNetwork']))
    const values = { from: 'a/b', fromNetwork: '../..', to: '$&?#', toNetwork: '%2f é' }
    expect(path.fill(values)).toBe('/pair/a%2Fb-..%2F../%24%26%3F%23-%252f%20%C3%A9')
  })

  it('is not matched where a segment has several: only a provider has such a path', () => {
    expect(path.match('/pair/BTC-bitcoin/ETH-ethereum')).toBeUndefined()
  })

  it('is matched where each is a segment of its own', () => {
    const pair = compilePath('/pairs/{from}/{to}')
    expect(pair.match('/pairs/BTC/USDT%2FTRC20')).toEqual({ from: 'BTC', to: 'USDT/TRC20' })
    for (const other of ['/pairs/BTC', '/pairs/BTC/', '/pairs/BTC/USDT/TRX', '/pair/BTC/USDT', '/pairs/BTC/%E0%A4%A'])
      expect(pair.match(other)).toBeUndefined()
  })
})

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
