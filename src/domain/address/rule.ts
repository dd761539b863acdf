/** Rules of the asset table for the addresses and memos of a network (docs/contract.md §3.6, §3.5). */
import { type Checksum, hasWrongChecksum } from './checksum.ts'

/** Matches the complete text, in linear time for any text. */
export interface Pattern {
  readonly source: string
  readonly matches: (text: string) => boolean
}

export interface AddressRule {
  readonly pattern: Pattern
  /** Each is verified if the address has its encoding. */
  readonly checksum: readonly Checksum[]
}

/** `none`: the network has no memos. */
export type MemoRule = Pattern | 'none'

/** Whether the text matches the pattern and no checksum is wrong. */
export function isAddress(text: string, { pattern, checksum }: AddressRule): boolean {
  return pattern.matches(text) && !checksum.some((kind) => hasWrongChecksum(text, kind))
}

export function isMemo(text: string, rule: MemoRule): boolean {
  return rule !== 'none' && rule.matches(text)
}
