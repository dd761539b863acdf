/** docs/contract.md §3.2: the pattern of a pair is that of every address of the network. */
import { describe, expect, test } from 'vitest'
import { formatNames } from '../../src/domain/address/formats.ts'
import { isAddress } from '../../src/domain/address/rule.ts'
import { addressPattern, mayNeedMemo } from '../../src/domain/address/shapes.ts'
import { addressesOf, shortAddressesOf } from './generated.ts'
import { samples } from './samples.ts'

const written = Object.values(samples).flatMap((forms) => Object.values(forms))

describe.each(formatNames)('%s', (format) => {
  const rule = { format, checksum: [] }
  const pattern = new RegExp(addressPattern(rule) ?? '')

  test('every address matches', () => {
    const known = [
      ...written.filter((address) => isAddress(address, rule)),
      ...addressesOf(format, 300),
      ...shortAddressesOf(format),
    ]
    expect(known.length).toBeGreaterThan(300)
    expect(known.filter((address) => !pattern.test(address))).toEqual([])
  })

  test('a sentence, a link and an empty text do not', () => {
    for (const text of ['', 'my wallet', 'https://wallet.example/a', `${'x'.repeat(200)}!`])
      expect(pattern.test(text), text).toBe(false)
  })
})

test('a pattern of the table is the whole pattern', () => {
  expect(addressPattern({ pattern: { source: 'a+|b', matches: () => true }, checksum: [] })).toBe('^(?:a+|b)$')
  expect(addressPattern({ checksum: [] })).toBeUndefined()
})

test('a memo may be needed as the table says, and not where a network has none', () => {
  const address = { checksum: [] }
  expect(mayNeedMemo({ memo: 'none' })).toBe(false)
  expect(mayNeedMemo({ memo: { source: 'XRP', matches: () => true } })).toBe(true)
  expect(mayNeedMemo({ address: { ...address, format: 'ETH' } })).toBe(false)
  expect(mayNeedMemo({ address: { ...address, format: 'ATOM' } })).toBeUndefined()
  expect(mayNeedMemo({ address })).toBeUndefined()
})
