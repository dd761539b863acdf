/** The routing that the configuration file has and an operator may override: one set of rules for both (docs/contract-operators.md §12). */

/** By provider. */
export type Weights = Readonly<Record<string, number>>

export const maxWeight = 1_000

export interface Mirror {
  readonly provider: string
  /** From 0 to 1. */
  readonly sample: number
}

export function isWeight(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxWeight
}

export function isMirror(value: unknown): value is Mirror {
  if (typeof value !== 'object' || value === null || Object.keys(value).toSorted().join() !== 'provider,sample') return false
  const { provider, sample } = value as Readonly<Record<string, unknown>>
  return typeof provider === 'string' && typeof sample === 'number' && sample >= 0 && sample <= 1
}

type WeightsFault =
  | { readonly what: 'missing'; readonly provider: string }
  | { readonly what: 'notRouted'; readonly provider: string }
  | { readonly what: 'allZero' }

/** Each routed provider must have a weight: one without would get no requests. No other provider may have one. */
export function weightsFaults(weights: Weights, routed: readonly string[]): readonly WeightsFault[] {
  const names = Object.keys(weights)
  const missing = routed.filter((name) => !names.includes(name))
  const notRouted = names.filter((name) => !routed.includes(name))
  return [
    ...missing.map((provider) => ({ what: 'missing', provider }) as const),
    ...notRouted.map((provider) => ({ what: 'notRouted', provider }) as const),
    ...(Object.values(weights).every((weight) => weight === 0) ? [{ what: 'allZero' } as const] : []),
  ]
}
