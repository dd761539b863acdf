/**
 * The settings that an operator may override, and which overrides are in force (docs/contract-operators.md §12). A value that this version does
 * not know is kept without effect. Weights hold for the providers that they name.
 */
import { isMirror, isWeight, type Mirror, type Weights } from '../../domain/routing-settings.ts'
import { type ProviderState, providerStates } from '../../domain/service.ts'

export interface RoutingSettings {
  readonly providers: readonly { readonly name: string; readonly tag: string; readonly state: ProviderState }[]
  readonly routing: {
    readonly strategy: string
    readonly providers: readonly string[]
    readonly weights?: Weights | undefined
    readonly mirror?: Mirror | undefined
  }
}

/** `state:` is followed by the provider's tag, which a rename does not change. */
type StateKey = `state:${string}`

/** One setting and its value, which names providers by their tags. */
export type Setting =
  | { readonly key: StateKey; readonly value: ProviderState }
  | { readonly key: 'weights'; readonly value: Weights }
  /** Null: no mirror. */
  | { readonly key: 'mirror'; readonly value: Mirror | null }

export type OverrideKey = Setting['key']

/** Null: none. */
export type SettingValue = Setting['value'] | null

/** Undefined if the key is none, or the value is not one of its kind. */
export function toSetting(key: string, value: unknown): Setting | undefined {
  if (key === 'weights') return isWeights(value) ? { key, value } : undefined
  if (key === 'mirror') return value === null || isMirror(value) ? { key, value } : undefined
  const state = providerStates.find((known) => known === value)
  return isStateKey(key) && state !== undefined ? { key, value: state } : undefined
}

function isStateKey(key: string): key is StateKey {
  return key.startsWith('state:')
}

function isWeights(value: unknown): value is Weights {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isWeight)
}

export function stateKey(tag: string): StateKey {
  return `state:${tag}`
}

/** The value of these settings for the key, by tags; null if there is none. */
export function settingOf(settings: RoutingSettings, key: OverrideKey): SettingValue {
  const { providers, routing } = settings
  if (key === 'weights') return routing.weights ? byTag(settings, routing.weights) : null
  if (key === 'mirror') return routing.mirror ? byTag(settings, routing.mirror) : null
  return providers.find(({ tag }) => stateKey(tag) === key)?.state ?? null
}

/** A value with the tags of providers in place of their names. */
export function byTag<Value extends SettingValue>({ providers }: RoutingSettings, value: Value): Value {
  return renamed(value, new Map(providers.map(({ name, tag }) => [name, tag])))
}

/** The same with names. A provider that the settings lack keeps its tag. */
export function byName<Value extends SettingValue>({ providers }: RoutingSettings, value: Value): Value {
  return renamed(value, new Map(providers.map(({ name, tag }) => [tag, name])))
}

/** `state:` with the name of the provider. */
export function keyByName({ providers }: RoutingSettings, key: OverrideKey): OverrideKey {
  const provider = providers.find(({ tag }) => stateKey(tag) === key)
  return provider ? stateKey(provider.name) : key
}

function renamed<Value extends SettingValue>(value: Value, words: ReadonlyMap<string, string>): Value {
  const rename = (word: string): string => words.get(word) ?? word
  if (value === null || typeof value === 'string') return value
  const named = isMirror(value)
    ? { ...(value as Mirror), provider: rename(value.provider) }
    : Object.fromEntries(Object.entries(value).map(([word, weight]) => [rename(word), weight]))
  return named as Value
}

/** Whether two values of a setting are equal as JSON, ignoring the order of object keys. */
export function areSameSetting(one: SettingValue, other: SettingValue): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: SettingValue): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

/** Whether the override takes new swaps away from a provider: only an operator's reset ends it, no change of the file. */
function takesAway({ key, value }: Setting): boolean {
  if (key === 'weights') return Object.values(value).includes(0)
  return key !== 'mirror' && (value === 'draining' || value === 'off')
}

/** Whether the setting has an effect on these settings: they have a provider that it names. */
export function isApplicable({ providers, routing }: RoutingSettings, { key, value }: Setting): boolean {
  if (key === 'weights') {
    const isRouted = (tag: string): boolean => providers.some((each) => each.tag === tag && routing.providers.includes(each.name))
    return routing.strategy === 'weighted' && Object.keys(value).some(isRouted)
  }
  if (key === 'mirror') return value === null || providers.some(({ tag }) => tag === value.provider)
  return providers.some(({ tag }) => stateKey(tag) === key)
}

/** The settings with all overrides that are applicable to them. Weights are those of the override for the providers that it names. */
function withOverrides<Settings extends RoutingSettings>(file: Settings, overrides: readonly Override[]): Settings {
  const applicable = overrides.filter((override) => isApplicable(file, override))
  if (applicable.length === 0) return file
  const states = new Map<OverrideKey, ProviderState>()
  let { weights, mirror } = file.routing
  for (const { key, value } of applicable) {
    if (key === 'weights') weights = mergedWeights(file, byName(file, value))
    else if (key === 'mirror') mirror = byName(file, value) ?? undefined
    else states.set(key, value)
  }
  const providers = file.providers.map((provider) => ({
    ...provider,
    state: states.get(stateKey(provider.tag)) ?? provider.state,
  }))
  return { ...file, providers, routing: { ...file.routing, weights, mirror } }
}

function mergedWeights({ routing }: RoutingSettings, weights: Weights): Weights {
  const changed = new Map(Object.entries(weights))
  const ofFile = new Map(Object.entries(routing.weights ?? {}))
  return Object.fromEntries(routing.providers.map((name) => [name, changed.get(name) ?? ofFile.get(name) ?? 0]))
}

// Overrides of the configuration file by operators: states, weights, mirror (docs/contract-operators.md §12).

export type Override = Setting & {
  /** The file's value for the key when the override was made. It is only compared. */
  readonly fileValue: SettingValue
  readonly actor: string
  /** Milliseconds since 1970 on the database's clock. */
  readonly since: number
}

/** An override in the store, active or ended. */
export type StoredOverride = Override & {
  /**
   * A replica read a file with another value for the key. Replicas whose file still has `fileValue` continue with the override until
   * they reload their file, so that a deployment in progress changes nothing for them.
   */
  readonly isEnded: boolean
}

/** The override is removed, and the file's value applies. */
interface Reset {
  readonly key: OverrideKey
  readonly value: undefined
}

/** What an operator wants. */
export type WantedSetting = Setting | Reset

export type OverrideChange = WantedSetting & { readonly fileValue: SettingValue; readonly shown: ShownChange }

/** A change as the audit log has it: with the names of providers. */
export interface ShownChange {
  readonly key: OverrideKey
  /** The values in effect. */
  readonly before: SettingValue
  readonly after: SettingValue
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
   * their tags; their suspensions of assets end (docs/contract-operators.md §10.3), each provider's with a record.
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

/** The file, its overrides, and what they make of it. */
export interface InForce<Settings extends RoutingSettings = RoutingSettings> {
  readonly file: Settings
  readonly applied: readonly Override[]
  /** The file neither ends nor applies them: it lacks their providers, or does not go by weights. */
  readonly asleep: readonly Override[]
  /** The file with the applied ones. */
  readonly settings: Settings
}

/**
 * What is in force with this file, for who did not follow it: overrides that the file cannot end, and those that were made for its value.
 * `overrides`: those that have not ended.
 */
export function inForce<Settings extends RoutingSettings>(file: Settings, overrides: readonly Override[]): InForce<Settings> {
  const applied = overrides.filter((override) => isApplicable(file, override) && (takesAway(override) || isHeld(file, override)))
  const asleep = overrides.filter((override) => takesAway(override) && !isApplicable(file, override))
  return { file, applied, asleep, settings: withOverrides(file, applied) }
}

/** Whether the file still has the value that the override was made for. */
function isHeld(file: RoutingSettings, { key, fileValue }: Override): boolean {
  return areSameSetting(settingOf(file, key), fileValue)
}

// Decides which overrides a replica applies. One that takes new swaps away from a provider stays until an operator resets it, and
// sleeps while the file lacks the provider. Any other is valid while the file has the value that it had when the override was
// made; a later change of the file ends it. During a deployment replicas may have different files: no clock decides, but the order
// in which this replica read them.

/** `settings` is the same object as before while neither the file nor the applied overrides are others. */
export interface Followed<Settings extends RoutingSettings = RoutingSettings> extends InForce<Settings> {
  /** Ended by a change of this file, but not marked as ended in the ledger yet. */
  readonly ended: readonly Override[]
  /** Ended earlier: the file has the old value again, but the override does not return. */
  readonly forgotten: readonly Override[]
}

/** `file`: the file read last. `stored`: the overrides in the ledger now. `before`: the previous result; undefined at the start. */
export function follow<Settings extends RoutingSettings>(
  file: Settings,
  stored: readonly StoredOverride[],
  before?: Followed<Settings>,
): Followed<Settings> {
  const [applied, asleep, ended, forgotten]: [Override[], Override[], Override[], Override[]] = [[], [], [], []]
  for (const { isEnded, ...override } of stored) {
    const holds = isHeld(file, override)
    if (!isEnded && takesAway(override)) (isApplicable(file, override) ? applied : asleep).push(override)
    else if (!isEnded && isAmong(before?.ended, override)) ended.push(override)
    else if (isNewFor(file, override, before)) {
      if (isEnded && holds) forgotten.push(override)
      if (isEnded) continue
      if (holds && isApplicable(file, override)) applied.push(override)
      else ended.push(override)
    } else if (isEnded ? holds && isAmong(before?.applied, override) : isApplicable(file, override)) applied.push(override)
  }
  const isSame = before?.file === file && without(applied, before.applied).length + without(before.applied, applied).length === 0
  return { file, applied, asleep, ended, forgotten, settings: isSame ? before.settings : withOverrides(file, applied) }
}

/** Whether the file has another value for the override's key than the previous one, or other providers. */
function isNewFor(file: RoutingSettings, override: Override, before: Followed | undefined): boolean {
  if (!before) return true
  if (!areSameSetting(settingOf(before.file, override.key), settingOf(file, override.key))) return true
  return isApplicable(before.file, override) && !isApplicable(file, override)
}

export function isAmong(overrides: readonly Override[] = [], override: Override): boolean {
  return overrides.some((other) => areSameOverride(other, override))
}

/** Whether both are the same override, not one and its replacement. */
function areSameOverride(one: Override, other: Override): boolean {
  const isSameRow = one.key === other.key && one.since === other.since && one.actor === other.actor
  return isSameRow && areSameSetting(one.value, other.value)
}

export function without(overrides: readonly Override[], others: readonly Override[]): readonly Override[] {
  return overrides.filter((override) => !isAmong(others, override))
}
