/** What a swap costs at a moment: drifting prices, a spread for each rate type, a fee for the payout, limits. */
import { type Amount, compareAmounts, divide, stepUp } from '../domain/amount.ts'
import { type Asset, fold } from '../domain/asset.ts'
import type { RateType } from '../domain/swap.ts'
import { cut, decimal, difference, one, product, significant, sum, zero } from './decimal.ts'
import { networkOf } from './networks.ts'

export interface Terms {
  /** Of the coin that is received, for one of the coin that is given. */
  readonly rate: Amount
  /** In the coin that is received. */
  readonly fee: Amount
  /** In the coin that is given, inclusive. */
  readonly minAmount: Amount
  readonly maxAmount: Amount
}

export interface Market {
  /** `at` is in milliseconds since 1970. */
  readonly terms: (from: Asset, to: Asset, rateType: RateType, at: number) => Terms
}

/** The share of the market's rate that remains. A fixed rate costs more, for its risk. */
const keptShare: Readonly<Record<RateType, Amount>> = { float: decimal('0.995'), fixed: decimal('0.985') }
const minDollars = decimal('10')
const maxDollars = decimal('50000')
const rateDigits = 10
const limitDigits = 3
/** Milliseconds between two prices, so that the same request gets the same response for a while. */
const tickMs = 10_000

/** The same seed gives the same prices at the same moment. */
export function market(seed: number): Market {
  return {
    terms(from, to, rateType, at) {
      const given = dollars(from.coin, seed, at)
      const received = dollars(to.coin, seed, at)
      const rate = quotient(product(given, keptShare[rateType]), received)
      const min = significant(quotient(minDollars, given), limitDigits)
      const max = significant(quotient(maxDollars, given), limitDigits)
      return {
        rate: significant(rate, rateDigits),
        fee: cut(quotient(networkOf(to.network).fee, received), priceOf(to.coin).decimals),
        minAmount: larger(min, from.depositMin),
        maxAmount: smaller(max, from.depositMax),
      }
    },
  }
}

/** What is paid out for an amount on these terms; 0 where the fee takes it all. */
export function received(amountIn: Amount, { rate, fee }: Pick<Terms, 'rate' | 'fee'>, coinTo: string): Amount {
  const gross = cut(product(amountIn, rate), priceOf(coinTo).decimals)
  return compareAmounts(gross, fee) > 0 ? difference(gross, fee) : zero
}

/** What must be given for `amountOut` on these terms, in a coin with so many decimals: never too little. */
export function needed(amountOut: Amount, { rate, fee }: Pick<Terms, 'rate' | 'fee'>, decimals: number): Amount {
  const gross = sum(amountOut, fee)
  const amountIn = cut(quotient(gross, rate), decimals)
  return compareAmounts(product(amountIn, rate), gross) < 0 ? stepUp(amountIn, decimals) : amountIn
}

export function isWithin(amount: Amount, { minAmount, maxAmount }: Pick<Terms, 'minAmount' | 'maxAmount'>): boolean {
  return compareAmounts(amount, minAmount) >= 0 && compareAmounts(amount, maxAmount) <= 0
}

/** The price of one coin. The walk is a float, so it only gives the millionths of the base price. */
function dollars(coin: string, seed: number, at: number): Amount {
  const { base, volatility } = priceOf(coin)
  const millionths = Math.round(1_000_000 * (1 + volatility * randomWalk(seed, coin, at - (at % tickMs))))
  return product(base, decimal(`${millionths}e-6`))
}

function quotient(a: Amount, b: Amount): Amount {
  return divide(a, b) ?? zero
}

function larger(a: Amount, b: Amount | undefined): Amount {
  return b !== undefined && compareAmounts(b, a) > 0 ? b : a
}

function smaller(a: Amount, b: Amount | undefined): Amount {
  return b !== undefined && compareAmounts(b, a) < 0 ? b : a
}

// A seeded random walk whose value at any moment is computed directly.

const shortestPeriodMs = 60_000
const octaves = 9

/**
 * Where the walk of `name` stands at a moment in milliseconds: from -1 to 1, the same for the same seed. It is a sum of
 * steady curves, each four times as slow and twice as wide as the one before, as a random walk's are; the slowest takes
 * some 45 days, and past that the walk returns to 0.
 */
function randomWalk(seed: number, name: string, at: number): number {
  let sum = 0
  let widths = 0
  for (let octave = 0; octave < octaves; octave++) {
    const width = 2 ** octave
    sum += width * curve(`${seed}:${name}:${octave}`, at / (shortestPeriodMs * 4 ** octave))
    widths += width
  }
  return sum / widths
}

/** A line through random points, one at each whole number. */
function curve(name: string, position: number): number {
  const before = Math.floor(position)
  const share = position - before
  return (1 - share) * point(`${name}:${before}`) + share * point(`${name}:${before + 1}`)
}

/** From -1 to 1, evenly: FNV-1a, then the last step of MurmurHash3, since FNV alone keeps neighbours close. */
function point(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff) * 2 - 1
}

// What the coins are worth around the time of writing: plausible, not true. The walk moves them from here.

interface Price {
  /** In US dollars. */
  readonly base: Amount
  /** How far the price strays from its base, as a share of it. */
  readonly volatility: number
  /** Places after the point that an amount of the coin has. */
  readonly decimals: number
}

/** In US dollars. */
const bases: ReadonlyMap<string, string> = pairsIn(`
  BTC 97400  ETH 3680  BNB 838  SOL 184  XRP 2.62  ADA 0.74  DOGE 0.215  TRX 0.318  AVAX 24.5  LINK 17.8
  BCH 545  LTC 112  DOT 3.95  GRAM 3.05  TON 3.05  XLM 0.36  HBAR 0.19  UNI 9.4  AAVE 268  SHIB 0.0000122  NEAR 2.55
  ETC 20.6  FIL 2.4  ATOM 4.4  ALGO 0.21  XMR 312  ZEC 58  DASH 31  XTZ 0.71  POL 0.235

  SUI 2.9  APT 4.1  TAO 410  KAS 0.078  ICP 4.6  HYPE 41  MNT 1.7  CRO 0.15  VET 0.022  SEI 0.27
  INJ 11.5  TIA 1.4  S 0.24  STX 0.55  IP 6.2  FLR 0.019  STRK 0.13  XDC 0.071  BSV 24  IOTA 0.17
  FLOW 0.33  EGLD 13.2  THETA 0.68  KAIA 0.14  BERA 2.1  MON 0.06  XPL 0.45  CORE 0.4  RUNE 1.1  KAVA 0.31
  AKT 0.95  OSMO 0.14  LUNA 0.13  LUNC 0.000052  RON 0.47  CELO 0.29  ROSE 0.024  MINA 0.15  ZIL 0.0098
  KSM 13.5  ICX 0.11  QTUM 2.1  DGB 0.0082  DCR 17.4  XNO 0.86  PLS 0.000034  ETHW 1.5  GLMR 0.061

  EURC 1.16  PAXG 4020  XAUT 4010  WBTC 97300  CBBTC 97350  WETH 3680  STETH 3675  WSTETH 4470  RETH 4210  WEETH 3960
  JITOSOL 226  LEO 9.5  PEPE 0.0000071  WLFI 0.14  ONDO 0.74  BGB 4.6  ENA 0.43  SKY 0.061  LDO 0.94  CRV 0.56
  GRT 0.068  IMX 0.52  QNT 84  ZRO 1.7  EIGEN 1.2  ETHFI 1.1  PENDLE 3.4  COMP 36  SNX 1.1  YFI 4900
  SUSHI 0.56  1INCH 0.19  BAT 0.17  MANA 0.24  SAND 0.22  AXS 1.6  GALA 0.011  CHZ 0.033  APE 0.41  BLUR 0.054
  FET 0.26  GLM 0.2  ANKR 0.0101  LRC 0.067  ZRX 0.19  MASK 0.98  ENS 15.1  RPL 3.9  FLOKI 0.000068  TURBO 0.0026
  MOG 0.00000053  SPX 0.83  MORPHO 1.9  LPT 5.2  API3 0.62  UMA 1.05  KNC 0.29  WOO 0.044  CVX 2.3  GNO 139
  HOT 0.00071  AMP 0.0026  SSV 5.9  SUPER 0.44  WLD 0.84  ASTER 1.1  CAKE 2.6  TWT 1.2  FORM 0.79  BABYDOGE 0.0000000011
  BTT 0.00000055  JST 0.034  SUN 0.021  HTX 0.0000018  WIN 0.000041  TRUMP 7.6  BONK 0.0000145  JUP 0.35  PENGU 0.017
  PUMP 0.0043  RENDER 2.4  PYTH 0.11  JTO 1.05  RAY 1.8  HNT 2.4  WIF 0.51  FARTCOIN 0.34  W 0.075  GRASS 0.43
  POPCAT 0.16  MEW 0.0017  BOME 0.00098  MELANIA 0.15  KMNO 0.058  ORCA 1.5  PNUT 0.12  MOODENG 0.083  GOAT 0.059  ME 0.42
  ARB 0.31  GMX 10.4  OP 0.42  VIRTUAL 1.2  AERO 0.93  BRETT 0.027  ZORA 0.071  ZK 0.041  NOT 0.00091  DOGS 0.000068
  HMSTR 0.00042  VTHO 0.0012
`)

function pairsIn(text: string): ReadonlyMap<string, string> {
  const words = text.split(/\s/).filter((word) => word !== '')
  return new Map(words.flatMap((coin, at) => (at % 2 === 0 ? [[coin, words[at + 1] ?? ''] as const] : [])))
}

const listed = { volatility: 0.12, decimals: 8 }
const stable: Price = { base: one, volatility: 0.001, decimals: 6 }

/** A coin that is not in the list is worth a dollar, as those are that are meant to be. */
export function priceOf(coin: string): Price {
  const base = bases.get(fold(coin))
  return base === undefined ? stable : { ...listed, base: decimal(base) }
}
