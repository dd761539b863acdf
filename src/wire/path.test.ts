import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { compilePath } from './request.ts'

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

  it('is never matched: only a provider has such a path', () => {
    expect(path.match('/pair/BTC-bitcoin/ETH-ethereum')).toBeUndefined()
  })
})
