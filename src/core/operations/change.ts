/** Changes of overrides by commands and the operator's API (docs/contract-operators.md §12). */

import { isMirror, isWeight, type Mirror, maxWeight, type Weights, weightsFaults } from '../../domain/routing-settings.ts'
import type { ProviderState } from '../../domain/service.ts'
import type { LedgerAdmin, OpenCount } from '../ports/ledger-admin.ts'
import type { StatusReport } from './provider-status.ts'
import {
  byName,
  byTag,
  inForce,
  keyByName,
  type Override,
  type OverrideChange,
  type OverrideKey,
  type OverrideStore,
  type RoutingSettings,
  settingOf,
  stateKey,
  type WantedSetting,
} from './settings.ts'

interface FileSettings extends RoutingSettings {
  readonly providers: readonly (RoutingSettings['providers'][number] & { readonly account: string })[]
}

export interface OperationPorts {
  /** The settings of the configuration file. */
  readonly file: FileSettings
  readonly overrides: OverrideStore
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
}

export interface ChangeOptions {
  /** Applies the change even if it leaves no provider for new swaps, or open transactions unread. */
  readonly force: boolean
  /** The operator, for the audit log. */
  readonly actor: string
}

/** `unknown`: there is no such provider. `invalid`: the value is not valid in a configuration. */
export interface Refusal {
  readonly outcome: 'unknown' | 'invalid' | 'needsForce'
  readonly message: string
}

export type ChangeResult = { readonly outcome: 'done' } | Refusal

const maxAttempts = 20

/**
 * Makes the overrides what is wanted, at most one for each key. If another change is written meanwhile, the decision is made again.
 * `resumed`: names of providers by their tags; their suspensions of assets end with it.
 */
async function changeOverrides(
  ports: OperationPorts,
  wanted: readonly WantedSetting[],
  options: ChangeOptions,
  resumed?: ReadonlyMap<string, string>,
): Promise<ChangeResult> {
  const { file, overrides } = ports
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const known = await overrides.read()
    const { settings: now } = inForce(file, known)
    const { settings } = inForce(file, changed(file, known, wanted))
    const objection = options.force ? undefined : await needsForce(ports, now, settings, wanted)
    if (objection !== undefined) return { outcome: 'needsForce', message: objection }
    const changes = wanted.map((setting): OverrideChange => {
      const { key, value } = setting
      const fileValue = settingOf(file, key)
      const [before, after] = [settingOf(now, key), value === undefined ? fileValue : value]
      const shown = { key: keyByName(file, key), before: byName(file, before), after: byName(file, after) }
      return { ...setting, fileValue, shown }
    })
    if (await overrides.change(changes, options.actor, known, resumed)) return { outcome: 'done' }
  }
  throw new Error('others keep changing the same; please try again')
}

function changed(file: RoutingSettings, known: readonly Override[], wanted: readonly WantedSetting[]): readonly Override[] {
  const kept = known.filter(({ key }) => !wanted.some((setting) => setting.key === key))
  const made = wanted.filter((setting) => setting.value !== undefined)
  return [...kept, ...made.map((setting) => ({ ...setting, fileValue: settingOf(file, setting.key), actor: '', since: 0 }))]
}

// Changes of states, weights and mirror by an operator (docs/contract-operators.md §12).

export interface RoutingChange {
  /** Weights by name; undefined: unchanged. */
  readonly weights?: Weights | undefined
  /** Null for none; undefined: unchanged. */
  readonly mirror?: Mirror | null | undefined
}

/** Sets the state of the provider with this name. */
export async function changeState(
  ports: OperationPorts,
  provider: string,
  state: ProviderState,
  options: ChangeOptions,
): Promise<ChangeResult> {
  const tag = tagOf(ports.file, provider)
  if (tag === undefined) return unknownProvider(ports.file, provider)
  return await changeOverrides(ports, [{ key: stateKey(tag), value: state }], options)
}

/** Changes weights and mirror together, or neither. */
export async function changeRouting(
  ports: OperationPorts,
  { weights, mirror }: RoutingChange,
  options: ChangeOptions,
): Promise<ChangeResult> {
  const fault =
    (weights === undefined ? undefined : faultInWeights(ports.file, weights)) ??
    (mirror === undefined ? undefined : faultInMirror(ports.file, mirror))
  if (fault !== undefined) return invalid(fault)
  const wanted: readonly WantedSetting[] = [
    ...(weights === undefined ? [] : [{ key: 'weights', value: byTag(ports.file, weights) } as const]),
    ...(mirror === undefined ? [] : [{ key: 'mirror', value: byTag(ports.file, mirror) } as const]),
  ]
  return await changeOverrides(ports, wanted, options)
}

/**
 * Removes the overrides of a provider, of `weights` or of `mirror`, and without a name all of them: the file's values apply again. A
 * provider that the file lacks is named by its tag. What was suspended at the
 * account of a provider that is reset is offered again.
 */
export async function resetOverrides(
  ports: OperationPorts,
  name: string | undefined,
  options: ChangeOptions,
): Promise<ChangeResult> {
  const { file, overrides } = ports
  const keys = (await overrides.readAll()).map(({ key }) => key)
  const tag = name === undefined ? undefined : tagOf(file, name)
  const ofName = name === undefined ? keys : [tag === undefined ? (otherKey(name) ?? stateKey(name)) : stateKey(tag)]
  const isKnown = name === undefined || tag !== undefined || otherKey(name) !== undefined || keys.includes(stateKey(name))
  if (!isKnown) return unknownProvider(file, name)
  const account = file.providers.find((provider) => provider.tag === tag)?.account
  const resumed = file.providers.filter((provider) => name === undefined || provider.account === account)
  const wanted = ofName.map((key) => ({ key, value: undefined }))
  return await changeOverrides(ports, wanted, options, new Map(resumed.map((one) => [one.tag, one.name])))
}

/** A provider may have this name too; then the provider is meant. */
function otherKey(name: string): OverrideKey | undefined {
  if (name === 'weights') return name
  return name === 'mirror' || name === 'shadow' ? 'mirror' : undefined
}

function faultInWeights({ routing }: RoutingSettings, weights: Weights): string | undefined {
  if (routing.strategy !== 'weighted') return `weights are of no effect: routing.strategy is ${routing.strategy}`
  const faults = weightsFaults(weights, routing.providers)
  const missing = faults.flatMap((fault) => (fault.what === 'missing' ? fault.provider : []))
  if (missing.length > 0) return `weights must name every routed provider: ${missing.join(', ')} is missing`
  const strange = faults.find((fault) => fault.what === 'notRouted')
  if (strange) return `weights: ${strange.provider} is not in routing.providers: ${routing.providers.join(', ')}`
  if (!Object.values(weights).every(isWeight)) return `weights must be whole numbers from 0 to ${maxWeight}`
  return faults.length > 0 ? 'weights must not all be 0' : undefined
}

function faultInMirror(file: RoutingSettings, mirror: Mirror | null): string | undefined {
  if (mirror === null) return undefined
  if (!isMirror(mirror)) return 'mirror must be a provider and a sample from 0 to 1'
  return tagOf(file, mirror.provider) === undefined ? unknownProvider(file, mirror.provider).message : undefined
}

function tagOf({ providers }: RoutingSettings, name: string): string | undefined {
  return providers.find((provider) => provider.name === name)?.tag
}

function unknownProvider({ providers }: RoutingSettings, name: string): Refusal {
  return { outcome: 'unknown', message: `there is no provider ${name}, but ${providers.map((known) => known.name).join(', ')}` }
}

function invalid(message: string): Refusal {
  return { outcome: 'invalid', message }
}

// Finds changes that need `force` because of their consequences (docs/contract-operators.md §12).

interface Ports {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
}

/** The reason why the change needs `force`; undefined if it does not. */
async function needsForce(
  ports: Ports,
  before: RoutingSettings,
  after: RoutingSettings,
  wanted: readonly WantedSetting[],
): Promise<string | undefined> {
  if (mayStop(wanted) && !hasTaker(after)) return 'this leaves no provider for new swaps'
  const stopped = after.providers.filter(({ name, state }) => state === 'off' && stateIn(before, name) !== 'off')
  if (stopped.length === 0) return undefined
  const counts = await ports.ledgerAdmin.openCounts()
  const open = stopped.map(({ name, tag }) => ({ name, count: openAt(counts, tag) })).filter(({ count }) => count > 0)
  if (open.length === 0) return undefined
  const named = open.map(({ name, count }) => `${name} has ${count} open`).join(', ')
  return `${named}, and is not called any more when it is off: let it drain first`
}

/** Number of open creates and transactions at a provider. */
export function openAt(counts: readonly OpenCount[], tag: string): number {
  return counts.reduce((total, { provider, count }) => (provider === tag ? total + count : total), 0)
}

/** Activating a provider and changing the mirror never stop anything. */
function mayStop(wanted: readonly WantedSetting[]): boolean {
  return wanted.some(({ key, value }) => key !== 'mirror' && value !== 'active')
}

function hasTaker({ providers, routing }: RoutingSettings): boolean {
  const hasWeight = (name: string): boolean =>
    routing.strategy !== 'weighted' || new Map(Object.entries(routing.weights ?? {})).get(name) !== 0
  const active = new Set(providers.filter(({ state }) => state === 'active').map(({ name }) => name))
  return routing.providers.some((name) => active.has(name) && hasWeight(name))
}

function stateIn({ providers }: RoutingSettings, name: string) {
  return providers.find((provider) => provider.name === name)?.state
}

// The routing in force, and the routing of the configuration file (docs/contract-operators.md §12, §15).

interface Routing {
  readonly strategy: string
  readonly providers: readonly string[]
  readonly weights: Readonly<Record<string, number>> | null
  readonly mirror: Mirror | null
  /** The earlier name of `mirror`. */
  readonly shadow: Mirror | null
  /** By the provider's name. */
  readonly states: Readonly<Record<string, ProviderState>>
}

export interface RoutingReport {
  readonly inForce: Routing
  readonly file: Routing
  readonly overrides: StatusReport['overrides']
}

/** `status`: of what is in force. */
export function routingReport(
  { weights, mirror, providers, overrides }: StatusReport,
  { routing, ...file }: RoutingSettings,
): RoutingReport {
  const settings = { strategy: routing.strategy, providers: routing.providers }
  const ofFile = routing.mirror ?? null
  return {
    inForce: { ...settings, weights, mirror, shadow: mirror, states: statesOf(providers) },
    file: { ...settings, weights: routing.weights ?? null, mirror: ofFile, shadow: ofFile, states: statesOf(file.providers) },
    overrides,
  }
}

function statesOf(providers: RoutingSettings['providers']): Routing['states'] {
  return Object.fromEntries(providers.map(({ name, state }) => [name, state]))
}
