/** What the coins are worth around the time of writing: plausible, not true. The walk moves them from here. */
import type { Amount } from '../../domain/amount.ts'
import { fold } from '../../domain/swap/asset.ts'
import { decimal, one } from './decimal.ts'

export interface Price {
  /** In US dollars. */
  readonly base: Amount
  /** How far the price strays from its base, as a share of it. */
  readonly swing: number
  /** Places after the point that an amount of the coin has. */
  readonly decimals: number
}

const bases: Readonly<Record<string, string>> = {
  AAVE: '268',
  ADA: '0.74',
  ALGO: '0.21',
  ATOM: '4.4',
  AVAX: '24.5',
  BCH: '545',
  BNB: '838',
  BTC: '97400',
  DASH: '31',
  DOGE: '0.215',
  DOT: '3.95',
  ETC: '20.6',
  ETH: '3680',
  FIL: '2.4',
  HBAR: '0.19',
  LINK: '17.8',
  LTC: '112',
  NEAR: '2.55',
  POL: '0.235',
  SHIB: '0.0000122',
  SOL: '184',
  TON: '3.05',
  TRX: '0.318',
  UNI: '9.4',
  XLM: '0.36',
  XMR: '312',
  XRP: '2.62',
  XTZ: '0.71',
  ZEC: '58',
}

const listed = { swing: 0.12, decimals: 8 }
const stable: Price = { base: one, swing: 0.001, decimals: 6 }

/** A coin that is not in the list is worth a dollar, as those are that are meant to be. */
export function priceOf(coin: string): Price {
  const base = bases[fold(coin)]
  return base === undefined ? stable : { ...listed, base: decimal(base) }
}
