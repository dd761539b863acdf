import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePath } from './path.ts'

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
    const property = fc.property(fc.string({ unit: 'binary' }), (id) => {
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
