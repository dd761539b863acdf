import { describe, expect, test } from 'vitest'
import { type DepositRuleTexts, depositRulesOf, depositRuleTexts, memoFormats, type Pattern } from './rule.ts'

const patternOf = (source: string): Pattern | undefined =>
  source.includes('(?=') ? undefined : { source, matches: (text) => text.startsWith(source) }

describe('the rules that a create has stored', () => {
  test.each<[string, DepositRuleTexts]>([
    ['none', {}],
    ['a format', { address: { format: 'ETH' } }],
    ['a pattern with checksums', { address: { pattern: 'T', checksum: ['bech32', 'base58check'] } }],
    ['a format for memos', { memo: { format: 'XRP' } }],
    ['a pattern for memos', { address: {}, memo: { pattern: '7' } }],
    ['no memos', { memo: 'none' }],
  ])('are read again: %s', (_, texts) => {
    const rules = depositRulesOf(texts, patternOf)
    expect(rules && new Set(depositRuleTexts(rules).address?.checksum)).toEqual(new Set(texts.address?.checksum))
    expect(rules?.address?.format).toBe(texts.address?.format)
    expect(rules?.address?.pattern?.source).toBe(texts.address?.pattern)
    expect(rules && depositRuleTexts(rules).memo).toEqual(texts.memo)
  })

  test('are those of the format', () => {
    expect(depositRulesOf({ memo: { format: 'XRP' } }, patternOf)).toEqual({ memo: memoFormats.XRP })
  })

  test.each<[string, unknown]>([
    ['a member', { length: 34 }],
    ['a member beside known ones', { memo: 'none', addresses: [] }],
    ['a member of the address', { address: { format: 'ETH', version: 2 } }],
    ['a format', { address: { format: 'NEW' } }],
    ['a pattern', { address: { pattern: '(?=a)' } }],
    ['a pattern that is no text', { address: { pattern: 7 } }],
    ['a checksum', { address: { checksum: ['bech32', 'blake'] } }],
    ['one checksum', { address: { checksum: 'bech32' } }],
    ['an address that is a text', { address: 'ETH' }],
    ['an address that is a list', { address: ['ETH'] }],
    ['an empty address', { address: null }],
    ['a word for memos', { memo: 'required' }],
    ['a format for memos', { memo: { format: 'NEW' } }],
    ['a member of the memo', { memo: { format: 'XRP', length: 9 } }],
    ['two rules for memos', { memo: { format: 'XRP', pattern: '7' } }],
    ['an empty rule for memos', { memo: {} }],
    ['no rule for memos', { memo: null }],
    ['a text', 'none'],
    ['nothing', null],
  ])('are unknown with what only another version knows: %s', (_, texts) =>
    expect(depositRulesOf(texts as DepositRuleTexts, patternOf)).toBeUndefined(),
  )
})
