/** The two sides of a swap in the fields of a question or an answer. */
import type { Pair } from '../domain/swap.ts'
import type { Words } from './naming.ts'

/** The fields in which one side is named. */
export interface Side {
  readonly code: 'codeFrom' | 'codeTo'
  readonly coin: 'coinFrom' | 'coinTo'
  readonly network: 'networkFrom' | 'networkTo'
}

export const from: Side = { code: 'codeFrom', coin: 'coinFrom', network: 'networkFrom' }
export const to: Side = { code: 'codeTo', coin: 'coinTo', network: 'networkTo' }

export function wordsOf(pair: Pair, side: Side): Words {
  const words: { code?: string; coin?: string; network?: string } = {}
  const { [side.code]: code, [side.coin]: coin, [side.network]: network } = pair
  if (code !== undefined) words.code = code
  if (coin !== undefined) words.coin = coin
  if (network !== undefined) words.network = network
  return words
}

export function withoutPair<T extends Pair>(pair: T): Omit<T, keyof Pair> {
  const { codeFrom: _a, coinFrom: _b, networkFrom: _c, codeTo: _d, coinTo: _e, networkTo: _f, ...rest } = pair
  return rest
}

/** `rest` with both sides named in these words. */
export function namePair<T extends object>(rest: T, source: Words, target: Words): T & Pair {
  const named: T & { -readonly [K in keyof Pair]: Pair[K] } = { ...rest }
  if (source.code !== undefined) named.codeFrom = source.code
  if (source.coin !== undefined) named.coinFrom = source.coin
  if (source.network !== undefined) named.networkFrom = source.network
  if (target.code !== undefined) named.codeTo = target.code
  if (target.coin !== undefined) named.coinTo = target.coin
  if (target.network !== undefined) named.networkTo = target.network
  return named
}
