/**
 * What addresses look like, for the forms that clients show: every address of a network matches, and a text that matches may still be none.
 * What decides is `formats.ts`.
 */
import type { Asset } from '../asset.ts'
import type { FormatName } from './formats.ts'
import type { AddressRule } from './rule.ts'

const base58 = '[1-9A-HJ-NP-Za-km-z]'
const ethereum = '0x[0-9A-Fa-f]{40}'

/** Letters of one case, behind a prefix. */
function bech32(prefix: string): string {
  return `${prefix}1[02-9ac-hj-np-z]{6,}|${prefix.toUpperCase()}1[02-9AC-HJ-NP-Z]{6,}`
}

const shapes: Readonly<Record<FormatName, string>> = {
  ADA: `${bech32('addr')}|${base58}{50,}`,
  AKT: bech32('akash'),
  ALGO: '[A-Z2-7]{58}',
  APT: '0x[0-9A-Fa-f]{60,64}',
  ATOM: bech32('cosmos'),
  BCH: `[13]${base58}{25,34}|(?:bitcoincash:)?[qpzr][02-9ac-hj-np-z]{41,}|(?:BITCOINCASH:)?[QPZR][02-9AC-HJ-NP-Z]{41,}`,
  BSV: `1${base58}{25,34}`,
  BTC: `[13]${base58}{25,34}|${bech32('bc')}`,
  DASH: `[X7]${base58}{25,34}`,
  DCR: `D[a-zS]${base58}{25,}`,
  DGB: `[DS3]${base58}{25,34}|${bech32('dgb')}`,
  DOGE: `[DA9]${base58}{25,34}`,
  DOT: `[15]${base58}{33,49}`,
  EGLD: bech32('erd'),
  ETH: ethereum,
  FIL: `f[0-4][a-z0-9]+|${ethereum}`,
  FLOW: '0x[0-9A-Fa-f]{16}',
  HBAR: `0\\.0\\.[0-9A-Za-z]+(?:-[a-z]{5})?|${ethereum}`,
  ICP: '[0-9A-Fa-f]{64}|[a-z0-9.-]{10,}',
  ICX: '(?:hx|cx)[0-9a-f]{40}',
  INJ: `${bech32('inj')}|${ethereum}`,
  KAS: '(?:kaspa:)?[02-9ac-hj-np-z]{61,}|(?:KASPA:)?[02-9AC-HJ-NP-Z]{61,}',
  KAVA: `${bech32('kava')}|${ethereum}`,
  KSM: `${base58}{46,50}`,
  LTC: `[LM3]${base58}{25,34}|${bech32('ltc')}|${bech32('ltcmweb')}`,
  LUNA: bech32('terra'),
  MINA: `B62${base58}{52}`,
  NEAR: '[0-9a-f]{64}|[a-z0-9._-]{2,64}',
  OSMO: bech32('osmo'),
  QTUM: `[QM]${base58}{25,34}|${bech32('qc')}`,
  RONIN: '(?:0x|ronin:)[0-9A-Fa-f]{40}',
  ROSE: bech32('oasis'),
  RUNE: bech32('thor'),
  SEI: `${bech32('sei')}|${ethereum}`,
  SOL: `${base58}{32,44}`,
  STRK: '0x[0-9A-Fa-f]{60,64}',
  STX: 'S[0-9A-Z]{27,}',
  SUI: '0x[0-9A-Fa-f]{64}',
  TAO: `5${base58}{46,49}`,
  TIA: bech32('celestia'),
  TON: '[A-Za-z0-9_+/-]{48}|(?:0|-1):[0-9A-Fa-f]{64}',
  TRX: `T${base58}{33}`,
  XDC: '(?:0x|xdc)[0-9A-Fa-f]{40}',
  XLM: '[GMC][A-Z2-7]{55,68}',
  XMR: `[48]${base58}{94,105}`,
  XNO: '(?:nano|xrb)_[13][13-9a-km-uw-z]{59}',
  XRP: `r${base58}{24,34}|X${base58}{46}`,
  XTZ: `(?:tz[1-4]|KT1|sr1)${base58}{33}`,
  ZEC: `t[13]${base58}{33}|${bech32('tex')}|${bech32('zs')}|${bech32('u')}`,
  ZIL: `${bech32('zil')}|${ethereum}`,
}

/** A regular expression for a whole address, by the pattern of the rule, else by its format; undefined if it has neither. */
export function addressPattern({ format, pattern }: AddressRule): string | undefined {
  const shape = pattern?.source ?? (format && shapes[format])
  return shape === undefined ? undefined : `^(?:${shape})$`
}

/** Formats of networks on which no address needs a memo or tag. */
const withoutMemos: ReadonlySet<FormatName> = new Set<FormatName>([
  ...(['ADA', 'BCH', 'BSV', 'BTC', 'DASH', 'DCR', 'DGB', 'DOGE', 'DOT', 'ETH'] as const),
  ...(['KSM', 'LTC', 'QTUM', 'SOL', 'TRX', 'XTZ', 'ZEC'] as const),
])

/** By the table, else by the network; undefined if neither says it. */
export function mayNeedMemo({ address, memo }: Pick<Asset, 'address' | 'memo'>): boolean | undefined {
  if (memo !== undefined) return memo !== 'none'
  return address?.format !== undefined && withoutMemos.has(address.format) ? false : undefined
}
