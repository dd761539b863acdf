/** Rules of the asset table for the addresses and memos of a network (docs/contract.md §3.6, §3.5). */

import { bareCashAddress, hasBothCases, isCashAddress, isEip55 } from './decoders.ts'
import { bareBech32, fromBase58Check, fromSegwit, isBase58, isBech32 } from './encoding.ts'
import { type FormatName, formatNames, formats } from './formats.ts'

/** Matches the complete text, in linear time for any text. */
export interface Pattern {
  readonly source: string
  readonly matches: (text: string) => boolean
}

/** Compiles one; undefined for a source that is none. */
export type PatternOf = (source: string) => Pattern | undefined

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
  TON: memo('TON', (text) => isText(text, maxMemoLength)),
  XLM: memo('XLM', (text) => isText(text, 28) || /^(?:[0-9A-Fa-f]{64}|[0-9A-Za-z+/]{43}=)$/.test(text)),
  XRP: memo('XRP', (text) => /^(?:0|[1-9][0-9]{0,9})$/.test(text) && Number(text) < 2 ** 32),
} satisfies Readonly<Record<string, Pattern>>

type MemoFormatName = keyof typeof memoFormats

export const memoFormatNames = Object.keys(memoFormats) as readonly MemoFormatName[]

function memo(source: string, matches: Pattern['matches']): Pattern {
  return { source, matches }
}

/** One line of UTF-8. */
function isText(text: string, maxBytes: number): boolean {
  return text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= maxBytes
}

/** What the table has for the deposit of a swap, as the ledger keeps it: formats by name, patterns by source. */
export interface DepositRuleTexts {
  readonly address?: { readonly format?: string; readonly pattern?: string; readonly checksum?: readonly string[] }
  readonly memo?: { readonly format: string } | { readonly pattern: string } | 'none'
}

/** A part without a rule is absent. */
export interface DepositRules {
  readonly address?: AddressRule
  readonly memo?: MemoRule
}

export function depositRuleTexts({ address, memo }: DepositRules): DepositRuleTexts {
  const { format, pattern, checksum = [] } = address ?? {}
  const ofAddress = {
    ...(format !== undefined && { format }),
    ...(pattern && { pattern: pattern.source }),
    ...(checksum.length > 0 && { checksum }),
  }
  return { ...(address && { address: ofAddress }), ...(memo && { memo: memoTexts(memo) }) }
}

function memoTexts(memo: MemoRule): NonNullable<DepositRuleTexts['memo']> {
  if (memo === 'none') return memo
  const isFormat = memoFormatNames.some((name) => memoFormats[name] === memo)
  return isFormat ? { format: memo.source } : { pattern: memo.source }
}

/** Undefined for any other shape than `DepositRuleTexts`, and for what this version does not know: another one has written it. */
export function depositRulesOf(texts: unknown, patternOf: PatternOf): DepositRules | undefined {
  const members = membersOf(texts, ['address', 'memo'])
  if (!members) return undefined
  const address = members.address === undefined ? undefined : addressRuleOf(members.address, patternOf)
  const memo = members.memo === undefined ? undefined : memoRuleOf(members.memo, patternOf)
  const isKnown = (address || members.address === undefined) && (memo || members.memo === undefined)
  return isKnown ? { ...(address && { address }), ...(memo && { memo }) } : undefined
}

function addressRuleOf(texts: unknown, patternOf: PatternOf): AddressRule | undefined {
  const members = membersOf(texts, ['format', 'pattern', 'checksum'])
  const { format, pattern, checksum = [] } = members ?? {}
  if (!members || !Array.isArray(checksum)) return undefined
  const known = {
    format: formatNames.find((name) => name === format),
    pattern: typeof pattern === 'string' ? patternOf(pattern) : undefined,
    checksum: checksums.filter((kind) => checksum.includes(kind)),
  }
  const isKnown =
    (format === undefined || known.format !== undefined) &&
    (pattern === undefined || known.pattern !== undefined) &&
    known.checksum.length === checksum.length
  return isKnown ? known : undefined
}

function memoRuleOf(texts: unknown, patternOf: PatternOf): MemoRule | undefined {
  if (texts === 'none') return texts
  const { pattern } = membersOf(texts, ['pattern']) ?? {}
  if (typeof pattern === 'string') return patternOf(pattern)
  const { format } = membersOf(texts, ['format']) ?? {}
  const name = memoFormatNames.find((each) => each === format)
  return name && memoFormats[name]
}

/** Undefined if it has others, or none can be read. */
function membersOf<Name extends string>(value: unknown, names: readonly Name[]): { readonly [Key in Name]?: unknown } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.keys(value).every((key) => names.some((name) => name === key)) ? value : undefined
}

/** Whether the text can be an address of any network. */
export function isAddressText(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text)
}

/** The longest memo of any network: a comment on TON. */
export const maxMemoLength = 1_000

/** Whether the text can be a memo or tag of any network. */
export function isMemoText(text: string): boolean {
  return text !== '' && text.length <= maxMemoLength && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
}

/** Whether the text is an address by each part of the rule. */
export function isAddress(text: string, { format, pattern, checksum }: AddressRule): boolean {
  if (format !== undefined && formats[format].accountOf(text) === undefined) return false
  return (pattern?.matches(text) ?? true) && !checksum.some((kind) => hasWrongChecksum(text, kind))
}

export function isMemo(text: string, rule: MemoRule): boolean {
  return rule !== 'none' && rule.matches(text)
}

// Verifies checksums of addresses by encoding. A text in another encoding never has a wrong checksum.

/** `bech32` includes bech32m and CashAddr. `eip55` is the case of the letters in a `0x` address. */
export const checksums = ['base58check', 'bech32', 'eip55'] as const

type Checksum = (typeof checksums)[number]

const hexadecimal = /^0x[0-9a-f]{40}$/i
/** Their variant of bech32 depends on the version of the witness program. */
const segwitPrefix = /^(bc|dgb|ltc|qc)1/

const isWrong: Readonly<Record<Checksum, (address: string) => boolean>> = {
  base58check: (address) =>
    isBase58(address) && !isLikeBech32(address) && !fromBase58Check(address, 'bitcoin') && !fromBase58Check(address, 'ripple'),
  bech32(address) {
    const cash = bareCashAddress(address)
    if (cash !== undefined) return !isCashAddress(cash)
    const bare = bareBech32(address)
    const [, prefix] = segwitPrefix.exec(bare ?? '') ?? []
    return bare !== undefined && !(prefix === undefined ? isBech32(address) : fromSegwit(address, prefix))
  },
  eip55: (address) => hexadecimal.test(address) && hasBothCases(address.slice(2)) && !isEip55(address.slice(2)),
}

/** Whether the address has this encoding and its checksum is wrong. */
function hasWrongChecksum(address: string, kind: Checksum): boolean {
  return isWrong[kind](address)
}

/** Some bech32 texts have only letters of base 58. */
function isLikeBech32(address: string): boolean {
  return bareBech32(address) !== undefined || bareCashAddress(address) !== undefined
}
