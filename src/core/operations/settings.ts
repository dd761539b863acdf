/** The settings that an operator may override (docs/contract.md §12). */
import { type ProviderState, providerStates } from '../../domain/service.ts'
import type { Override, OverrideKey } from './overrides.ts'

export interface Shadow {
  readonly provider: string
  /** From 0 to 1. */
  readonly sample: number
}

export interface RoutingSettings {
  readonly providers: readonly { readonly name: string; readonly tag: string; readonly state: ProviderState }[]
  readonly routing: {
    readonly strategy: string
    readonly providers: readonly string[]
    readonly weights?: Readonly<Record<string, number>> | undefined
    readonly shadow?: Shadow | undefined
  }
}

export function stateKey(tag: string): OverrideKey {
  return `state:${tag}`
}

/** The value of these settings for the key, by tags; null if there is none. */
export function settingOf(settings: RoutingSettings, key: OverrideKey): unknown {
  const { providers, routing } = settings
  if (key === 'weights') return routing.weights ? byTag(settings, routing.weights) : null
  if (key === 'shadow') return routing.shadow ? byTag(settings, routing.shadow) : null
  return providers.find(({ tag }) => stateKey(tag) === key)?.state ?? null
}

/** A state, weights or a shadow with the tags of providers in place of their names. */
export function byTag({ providers }: RoutingSettings, value: unknown): unknown {
  return renamed(value, new Map(providers.map(({ name, tag }) => [name, tag])))
}

/** The same with names. A provider that the settings lack keeps its tag. */
export function byName({ providers }: RoutingSettings, value: unknown): unknown {
  return renamed(value, new Map(providers.map(({ name, tag }) => [tag, name])))
}

/** `state:` with the name of the provider. */
export function keyByName({ providers }: RoutingSettings, key: OverrideKey): OverrideKey {
  const provider = providers.find(({ tag }) => stateKey(tag) === key)
  return provider ? stateKey(provider.name) : key
}

function renamed(value: unknown, words: ReadonlyMap<string, string>): unknown {
  if (!isRecord(value)) return value
  const { provider } = value
  if (typeof provider === 'string') return { ...value, provider: words.get(provider) ?? provider }
  return Object.fromEntries(Object.entries(value).map(([word, weight]) => [words.get(word) ?? word, weight]))
}

/** Whether two values of a setting are equal as JSON, ignoring the order of object keys. */
export function areSameSetting(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

/** Whether the override takes new swaps away from a provider: only an operator's reset ends it, no change of the file. */
export function takesAway({ key, value }: Override): boolean {
  if (key === 'weights') return isRecord(value) && Object.values(value).includes(0)
  return key !== 'shadow' && (value === 'draining' || value === 'off')
}

/** Whether the override has an effect on these settings: they have a provider that it names. */
export function isApplicable({ providers, routing }: RoutingSettings, { key, value }: Override): boolean {
  const has = (tag: string): boolean => providers.some((provider) => provider.tag === tag)
  if (key === 'weights') {
    const isRouted = (tag: string): boolean => providers.some((each) => each.tag === tag && routing.providers.includes(each.name))
    return routing.strategy === 'weighted' && isRecord(value) && Object.keys(value).some(isRouted)
  }
  if (key === 'shadow') return value === null || (isRecord(value) && typeof value.provider === 'string' && has(value.provider))
  return providers.some(({ tag }) => stateKey(tag) === key) && providerStates.some((state) => state === value)
}

/** The overrides that are in force with this file: those that the file cannot end, and those that were made for its value. */
export function heldBy(file: RoutingSettings, overrides: readonly Override[]): readonly Override[] {
  return overrides.filter(
    (override) =>
      isApplicable(file, override) && (takesAway(override) || areSameSetting(settingOf(file, override.key), override.fileValue)),
  )
}

/** Those that the file can neither end nor apply: it lacks their providers, or does not go by weights. */
export function sleeping(file: RoutingSettings, overrides: readonly Override[]): readonly Override[] {
  return overrides.filter((override) => takesAway(override) && !isApplicable(file, override))
}

/** The settings with all overrides that are applicable to them. Weights are those of the override for the providers that it names. */
export function withOverrides<Settings extends RoutingSettings>(file: Settings, overrides: readonly Override[]): Settings {
  const values = new Map<OverrideKey, unknown>()
  for (const override of overrides) if (isApplicable(file, override)) values.set(override.key, override.value)
  if (values.size === 0) return file
  const inForce = (key: OverrideKey): unknown => byName(file, values.has(key) ? values.get(key) : settingOf(file, key)) ?? undefined
  const providers = file.providers.map((provider) => ({ ...provider, state: inForce(stateKey(provider.tag)) }))
  const weights = values.has('weights') ? mergedWeights(file, inForce('weights')) : file.routing.weights
  return { ...file, providers, routing: { ...file.routing, weights, shadow: inForce('shadow') } } as Settings
}

function mergedWeights({ routing }: RoutingSettings, weights: unknown): Readonly<Record<string, unknown>> {
  const changed = new Map(isRecord(weights) ? Object.entries(weights) : [])
  const ofFile = new Map(Object.entries(routing.weights ?? {}))
  return Object.fromEntries(routing.providers.map((name) => [name, changed.get(name) ?? ofFile.get(name) ?? 0]))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
