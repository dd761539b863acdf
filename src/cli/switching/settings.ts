import type { Shadow } from '../../core/operations/settings.ts'

const pair = /^(.+)=(-?(?:0|[1-9]\d*)(?:\.\d+)?)$/s

/** Weights of words like `alpha=90`, each name once. Undefined where they are something else. */
export function toWeights(words: readonly string[]): Readonly<Record<string, number>> | undefined {
  const weights = words.map((word) => pair.exec(word)).map((match) => match && ([match[1] ?? '', Number(match[2])] as const))
  if (!weights.every((entry) => entry !== null)) return undefined
  const byName = new Map(weights)
  return byName.size === words.length ? Object.fromEntries(byName) : undefined
}

export interface ShadowSetting {
  /** Null: none. */
  readonly shadow: Shadow | null
}

/** `beta=0.1`, or `off`. */
export function toShadow(text: string): ShadowSetting | undefined {
  if (text === 'off') return { shadow: null }
  const [, provider, sample] = pair.exec(text) ?? []
  return provider === undefined ? undefined : { shadow: { provider, sample: Number(sample) } }
}
