import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isKey, keyBytes, makeKey } from './key.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bytes = fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes })
const key = bytes.map(makeKey)

function replaced(text: string, at: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + 1)
}

function swapped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
}

const numberOf = (digits: string): bigint => [...digits].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)

describe('a key', () => {
  it('has one length, a prefix, and the CRC-32 of all before it at its end', () => {
    const property = fc.property(key, (text) => {
      expect(text).toMatch(/^sg_live_[0-9A-Za-z]{33}$/)
      expect(numberOf(text.slice(-6))).toBe(BigInt(crc32(text.slice(0, -6))))
      expect(isKey(text)).toBe(true)
    })
    fc.assert(property)
  })

  it('is the same for the same bytes', () => {
    expect(makeKey(new Uint8Array(keyBytes).fill(255))).toBe('sg_live_aWgEPTl1tmebfsQzFP4bxwgy80V3VkPdr')
    expect(makeKey(Uint8Array.from({ length: keyBytes }, (_, at) => at))).toBe('sg_live_0029sS3yqsuDyR1vGFhTuuRAq1b1RhPwc')
  })

  it('contains all of its random bytes', () => {
    const property = fc.property(bytes, (random) => {
      const number = numberOf(makeKey(random).slice(8, -6))
      expect(number.toString(16).padStart(2 * keyBytes, '0')).toBe(Buffer.from(random).toString('hex'))
    })
    fc.assert(property)
  })

  it.each([0, keyBytes - 1, keyBytes + 1])('is not made of %i bytes', (length) => {
    expect(() => makeKey(new Uint8Array(length))).toThrow(RangeError)
  })
})

describe('a typing error is noticed', () => {
  it('wherever one character is another of the alphabet', () => {
    const property = fc.property(key, (text) => {
      const wrong = [...text].flatMap((character, at) =>
        [...alphabet].filter((other) => other !== character).map((other) => replaced(text, at, other)),
      )
      expect(wrong.filter(isKey)).toEqual([])
    })
    fc.assert(property, { numRuns: 20 })
  })

  it('wherever one character is any other', () => {
    const place = fc.nat({ max: 40 })
    const character = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    const property = fc.property(key, place, character, (text, at, other) => {
      fc.pre(other !== text[at])
      expect(isKey(replaced(text, at, other))).toBe(false)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('wherever two neighbours are swapped', () => {
    const property = fc.property(key, (text) => {
      const places = Array.from({ length: text.length - 1 }, (_, at) => at).filter((at) => text[at] !== text[at + 1])
      expect(places.map((at) => swapped(text, at)).filter(isKey)).toEqual([])
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('if the last random character is swapped with the first of the checksum', () => {
    let swaps = 0
    const random = randomBytes(100_000 * keyBytes)
    for (let at = 0; at < random.length; at += keyBytes) {
      const text = makeKey(random.subarray(at, at + keyBytes))
      if (text[34] === text[35]) continue
      if (isKey(swapped(text, 34))) expect.fail(text)
      swaps++
    }
    expect(swaps).toBeGreaterThan(90_000)
  })

  it('if a character is missing or added', () => {
    const property = fc.property(key, fc.nat({ max: 40 }), fc.constantFrom(...alphabet), (text, at, more) => {
      expect(isKey(replaced(text, at, ''))).toBe(false)
      expect(isKey(text.slice(0, at) + more + text.slice(at))).toBe(false)
      for (const space of [' ', '\n']) expect([isKey(space + text), isKey(text + space)]).toEqual([false, false])
    })
    fc.assert(property)
  })
})

it('a key of another kind is none', () => {
  for (const text of ['', 'sg_live_', 'sandbox-key-1', `sg_test_${'0'.repeat(33)}`]) expect(isKey(text)).toBe(false)
})
