/** What texts are addresses and memos of a network, as the asset table has it (docs/contract.md §3.6, §3.5). */
import { type Checksum, hasWrongChecksum } from './checksum.ts'

/** All of a text, or nothing. Its matching takes time in proportion to the text, whatever the text is. */
export interface Pattern {
  readonly source: string
  readonly matches: (text: string) => boolean
}

export interface AddressRule {
  readonly pattern: Pattern
  /** Each is looked at where an address has its encoding. */
  readonly checksum: readonly Checksum[]
}

/** `none`: nothing can go beside an address. */
export type MemoRule = Pattern | 'none'

export function isAddress(text: string, { pattern, checksum }: AddressRule): boolean {
  return pattern.matches(text) && !checksum.some((kind) => hasWrongChecksum(text, kind))
}

export function isMemo(text: string, rule: MemoRule): boolean {
  return rule !== 'none' && rule.matches(text)
}
