import type { Shadow } from '../../core/operations/settings.ts'

const pair = /^(.+)=(-?(?:0|[1-9]\d*)(?:\.\d+)?)$/s

/** Parses arguments like `alpha=90`, each name once. Undefined if one is malformed or repeated. */
export function toWeights(args: readonly string[]): Readonly<Record<string, number>> | undefined {
  const weights = args.map((arg) => pair.exec(arg)).map((match) => match && ([match[1] ?? '', Number(match[2])] as const))
  if (!weights.every((entry) => entry !== null)) return undefined
  const byName = new Map(weights)
  return byName.size === args.length ? Object.fromEntries(byName) : undefined
}

export interface ShadowSetting {
  /** Null: no shadow. */
  readonly shadow: Shadow | null
}

/** Parses `beta=0.1` or `off`. Undefined if the text is neither. */
export function toShadow(text: string): ShadowSetting | undefined {
  if (text === 'off') return { shadow: null }
  const [, provider, sample] = pair.exec(text) ?? []
  return provider === undefined ? undefined : { shadow: { provider, sample: Number(sample) } }
}
