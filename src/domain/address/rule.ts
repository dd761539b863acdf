/** Rules of the asset table for the addresses and memos of a network (docs/contract.md §3.6, §3.5). */
import { type Checksum, hasWrongChecksum } from './checksum.ts'
import { type FormatName, formats } from './formats.ts'

/** Matches the complete text, in linear time for any text. */
export interface Pattern {
  readonly source: string
  readonly matches: (text: string) => boolean
}

export interface AddressRule {
  /** Decodes addresses as this network has them. */
  readonly format?: FormatName | undefined
  readonly pattern?: Pattern | undefined
  /** Each is verified if the address has its encoding. */
  readonly checksum: readonly Checksum[]
}

/** `none`: the network has no memos. */
export type MemoRule = Pattern | 'none'

/** Memos by network: of bytes, where a network counts bytes. A number of Stellar's 64 bits is a text of 28 bytes too. */
export const memoFormats = {
  ATOM: memo('ATOM', (text) => isText(text, 256)),
  HBAR: memo('HBAR', (text) => isText(text, 100)),
  STX: memo('STX', (text) => isText(text, 34)),
  TON: memo('TON', (text) => isText(text, 1_000)),
  XLM: memo('XLM', (text) => isText(text, 28) || /^(?:[0-9A-Fa-f]{64}|[0-9A-Za-z+/]{43}=)$/.test(text)),
  XRP: memo('XRP', (text) => /^(?:0|[1-9][0-9]{0,9})$/.test(text) && Number(text) < 2 ** 32),
} satisfies Readonly<Record<string, Pattern>>

export type MemoFormatName = keyof typeof memoFormats

export const memoFormatNames = Object.keys(memoFormats) as readonly MemoFormatName[]

function memo(source: string, matches: Pattern['matches']): Pattern {
  return { source, matches }
}

/** One line of UTF-8. */
function isText(text: string, maxBytes: number): boolean {
  return text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= maxBytes
}

/** Whether the text is an address by each part of the rule. */
export function isAddress(text: string, { format, pattern, checksum }: AddressRule): boolean {
  if (format !== undefined && formats[format].accountOf(text) === undefined) return false
  return (pattern?.matches(text) ?? true) && !checksum.some((kind) => hasWrongChecksum(text, kind))
}

export function isMemo(text: string, rule: MemoRule): boolean {
  return rule !== 'none' && rule.matches(text)
}
