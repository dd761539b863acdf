/** The settings that an operator may override (docs/contract.md §12). */
import { type ProviderState, providerStates } from '../../domain/service.ts'

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
    readonly mirror?: Shadow | undefined
  }
}

export function stateKey(tag: string): OverrideKey {
  return `state:${tag}`
}

/** The value of these settings for the key, by tags; null if there is none. */
export function settingOf(settings: RoutingSettings, key: OverrideKey): unknown {
  const { providers, routing } = settings
  if (key === 'weights') return routing.weights ? byTag(settings, routing.weights) : null
  if (key === 'shadow') return routing.mirror ? byTag(settings, routing.mirror) : null
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
function takesAway({ key, value }: Override): boolean {
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
  return { ...file, providers, routing: { ...file.routing, weights, mirror: inForce('shadow') } } as Settings
}

function mergedWeights({ routing }: RoutingSettings, weights: unknown): Readonly<Record<string, unknown>> {
  const changed = new Map(isRecord(weights) ? Object.entries(weights) : [])
  const ofFile = new Map(Object.entries(routing.weights ?? {}))
  return Object.fromEntries(routing.providers.map((name) => [name, changed.get(name) ?? ofFile.get(name) ?? 0]))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

// Overrides of the configuration file by operators: states, weights, shadow (docs/contract.md §12).

/** `state:` is followed by the provider's tag, which a rename does not change. */
export type OverrideKey = `state:${string}` | 'weights' | 'shadow'

export interface Override {
  readonly key: OverrideKey
  /** A `ProviderState`; weights by tag; `{ provider, sample }` with a tag, or null for no shadow. */
  readonly value: unknown
  /** The file's value for the key when the override was made; null if there was none. */
  readonly fileValue: unknown
  readonly actor: string
  /** Milliseconds since 1970 on the database's clock. */
  readonly since: number
}

/** An override in the store, active or ended. */
export interface StoredOverride extends Override {
  /**
   * A replica read a file with another value for the key. Replicas whose file still has `fileValue` continue with the override until
   * they reload their file, so that a deployment in progress changes nothing for them.
   */
  readonly isEnded: boolean
}

export interface OverrideChange {
  readonly key: OverrideKey
  /** Undefined: the override is removed, and the file's value applies. */
  readonly value: unknown
  readonly fileValue: unknown
  readonly shown: ShownChange
}

/** A change as the audit log has it: with the names of providers. */
export interface ShownChange {
  readonly key: OverrideKey
  /** The values in effect. */
  readonly before: unknown
  readonly after: unknown
}

/** Port: the overrides in the ledger. */
export interface OverrideStore {
  /** Overrides that have not ended, sorted by key. */
  readonly read: () => Promise<readonly Override[]>
  /** All overrides, sorted by key. */
  readonly readAll: () => Promise<readonly StoredOverride[]>
  /**
   * Applies all changes with their audit records in one transaction. A value that is set already is not changed and gets no record.
   * False, without a change, if `expected` is given and `read` would return something else now. `resumed`: names of providers by
   * their tags; their suspensions of assets end (docs/contract.md §10.3), each provider's with a record.
   */
  readonly change: (
    changes: readonly OverrideChange[],
    actor: string,
    expected?: readonly Override[],
    resumed?: ReadonlyMap<string, string>,
  ) => Promise<boolean>
  /** Ends the override, because the file now has another value for its key. False if it does not exist or has already ended. */
  readonly end: (override: Override, shown: ShownChange) => Promise<boolean>
  /** Deletes an ended override, if it exists. */
  readonly forget: (override: Override) => Promise<void>
}

// Decides which overrides a replica applies. One that takes new swaps away from a provider stays until an operator resets it, and
// sleeps while the file lacks the provider. Any other is valid while the file has the value that it had when the override was
// made; a later change of the file ends it. During a deployment replicas may have different files: no clock decides, but the order
// in which this replica read them.

export interface Followed<Settings extends RoutingSettings = RoutingSettings> {
  readonly file: Settings
  readonly applied: readonly Override[]
  /** The file neither ends nor applies them. */
  readonly asleep: readonly Override[]
  /** Ended by a change of this file, but not marked as ended in the ledger yet. */
  readonly ended: readonly Override[]
  /** Ended earlier: the file has the old value again, but the override does not return. */
  readonly forgotten: readonly Override[]
}

/** `file`: the file read last. `stored`: the overrides in the ledger now. `before`: the previous result; undefined at the start. */
export function follow<Settings extends RoutingSettings>(
  file: Settings,
  stored: readonly StoredOverride[],
  before?: Followed,
): Followed<Settings> {
  const [applied, asleep, ended, forgotten]: [Override[], Override[], Override[], Override[]] = [[], [], [], []]
  for (const { isEnded, ...override } of stored) {
    const isHeld = areSameSetting(settingOf(file, override.key), override.fileValue)
    if (!isEnded && takesAway(override)) (isApplicable(file, override) ? applied : asleep).push(override)
    else if (!isEnded && has(before?.ended, override)) ended.push(override)
    else if (isNewFor(file, override, before)) {
      if (isEnded && isHeld) forgotten.push(override)
      if (isEnded) continue
      if (isHeld && isApplicable(file, override)) applied.push(override)
      else ended.push(override)
    } else if (isEnded ? isHeld && has(before?.applied, override) : isApplicable(file, override)) applied.push(override)
  }
  return { file, applied, asleep, ended, forgotten }
}

/** Whether the file has another value for the override's key than the previous one, or other providers. */
function isNewFor(file: RoutingSettings, override: Override, before: Followed | undefined): boolean {
  if (!before) return true
  if (!areSameSetting(settingOf(before.file, override.key), settingOf(file, override.key))) return true
  return isApplicable(before.file, override) && !isApplicable(file, override)
}

function has(overrides: readonly Override[] = [], override: Override): boolean {
  return overrides.some((other) => areSameOverride(other, override))
}

/** Whether both are the same override, not one and its replacement. */
export function areSameOverride(one: Override, other: Override): boolean {
  const isSameRow = one.key === other.key && one.since === other.since && one.actor === other.actor
  return isSameRow && areSameSetting(one.value, other.value)
}
