import { describe, expect, test } from 'vitest'
import type { NewTransaction } from '../../domain/swap/swap.ts'
import { contradictedTerms, unconfirmedMemos } from './compare-terms.ts'

const classic = 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59'
const withTag1 = 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu'
type Terms = Partial<NewTransaction>

describe('M38: spellings of an address contradict nothing, and a tag in one is a memo', () => {
  test.each<[string, Terms, Terms, readonly string[]]>([
    [
      'in capitals',
      { withdrawalAddress: 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ' },
      { withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      [],
    ],
    ['a tag beside it', { withdrawalAddress: withTag1 }, { withdrawalAddress: classic, withdrawalExtraId: '1' }, []],
    ['a tag within it', { withdrawalAddress: classic, withdrawalExtraId: '1' }, { withdrawalAddress: withTag1 }, []],
    ['another tag beside it', { refundAddress: withTag1 }, { refundAddress: classic, refundExtraId: '2' }, ['refundExtraId']],
    [
      'another tag within it',
      { withdrawalAddress: classic, withdrawalExtraId: '2' },
      { withdrawalAddress: withTag1 },
      ['withdrawalExtraId'],
    ],
    ['a tag that was not requested', { withdrawalAddress: classic }, { withdrawalAddress: withTag1 }, ['withdrawalExtraId']],
    ['no tag', { withdrawalAddress: withTag1 }, { withdrawalAddress: classic }, []],
  ])('%s', (_, requested, reported, fields) => {
    expect(contradictedTerms(requested, reported)).toEqual(fields)
  })
})
test('a requested memo is confirmed by the same address with its tag, and not by a missing field', () => {
  const requested = { withdrawalAddress: classic, withdrawalExtraId: '1', refundAddress: withTag1 }
  expect(unconfirmedMemos(requested, {})).toEqual(['withdrawalExtraId', 'refundExtraId'])
  expect(unconfirmedMemos(requested, { withdrawalAddress: withTag1, refundExtraId: '1' })).toEqual([])
  expect(unconfirmedMemos({ withdrawalAddress: classic }, {})).toEqual([])
})
