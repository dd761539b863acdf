/** The settings that an operator may override (docs/contract.md §12). */
import { type ProviderState, providerStates } from '../../domain/swap/provider-state.ts'
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

export function stateKey(provider: string): OverrideKey {
  return `state:${provider}`
}

/** The value of these settings for the key; null if there is none. */
export function settingOf({ providers, routing }: RoutingSettings, key: OverrideKey): unknown {
  if (key === 'weights') return routing.weights ?? null
  if (key === 'shadow') return routing.shadow ?? null
  return providers.find(({ name }) => stateKey(name) === key)?.state ?? null
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

/** Whether the override fits these settings: its providers exist, and every routed provider has a weight. */
export function isApplicable({ providers, routing }: RoutingSettings, { key, value }: Override): boolean {
  if (key === 'weights') return isRecord(value) && haveSameNames(Object.keys(value), routing.providers)
  if (key === 'shadow') return value === null || (isRecord(value) && providers.some(({ name }) => name === value.provider))
  return providers.some(({ name }) => stateKey(name) === key) && providerStates.some((state) => state === value)
}

/** The overrides that are valid with this file: it has the value that it had when they were made. */
export function heldBy(file: RoutingSettings, overrides: readonly Override[]): readonly Override[] {
  return overrides.filter(
    (override) => areSameSetting(settingOf(file, override.key), override.fileValue) && isApplicable(file, override),
  )
}

/** The settings with all overrides that are applicable to them. */
export function withOverrides<Settings extends RoutingSettings>(file: Settings, overrides: readonly Override[]): Settings {
  const values = new Map<OverrideKey, unknown>()
  for (const override of overrides) if (isApplicable(file, override)) values.set(override.key, override.value)
  if (values.size === 0) return file
  const inForce = (key: OverrideKey): unknown => (values.has(key) ? values.get(key) : settingOf(file, key)) ?? undefined
  const providers = file.providers.map((provider) => ({ ...provider, state: inForce(stateKey(provider.name)) }))
  return { ...file, providers, routing: { ...file.routing, weights: inForce('weights'), shadow: inForce('shadow') } } as Settings
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function haveSameNames(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name) => others.includes(name))
}
