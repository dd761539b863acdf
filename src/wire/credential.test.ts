import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bearer, keyHeader } from './credential.ts'

const key = fc.stringMatching(/^[\x21-\x7e]{1,4096}$/)

describe.each([
  ['a bearer token', bearer()],
  ['a key in a header of its own', keyHeader('X-API-Key')],
])('%s', (_, credential) => {
  it('arrives as it was sent', () => {
    const property = fc.property(key, (sent) => {
      expect(credential.decode(credential.encode(sent))).toBe(sent)
      expect(credential.isOffered(credential.encode(sent))).toBe(true)
    })
    fc.assert(property)
  })

  it('travels in its header alone', () => {
    expect(Object.keys(credential.encode('key'))).toEqual([credential.header])
    expect(credential.header).toBe(credential.name.toLowerCase())
  })

  it.each(['', 'a b', 'a\tb', 'clé', 'a'.repeat(4_097), ' '])('is none where it is %j', (value) => {
    const headers = credential.encode(value)
    expect(credential.decode(headers)).toBeUndefined()
  })

  it('is none where nothing is sent', () => {
    expect(credential.decode({})).toBeUndefined()
    expect(credential.isOffered({})).toBe(false)
  })
})

describe('the scheme of a bearer token', () => {
  it.each(['Bearer k', 'bearer k', 'BEARER k', 'Bearer   k'])('is known in %j', (authorization) => {
    expect(bearer().decode({ authorization })).toBe('k')
  })

  it.each(['Basic k', 'Bearerk', 'k', 'Bearer', 'Bearer ', ' Bearer k', 'Bearer k k', 'Bearer\tk'])(
    'is not, or has no key, in %j',
    (authorization) => {
      expect(bearer().decode({ authorization })).toBeUndefined()
    },
  )

  it('is offered even if its key is missing, so that the form is recognized', () => {
    expect(bearer().isOffered({ authorization: 'Bearer' })).toBe(true)
    expect(bearer().isOffered({ authorization: 'Basic k' })).toBe(false)
  })
})
