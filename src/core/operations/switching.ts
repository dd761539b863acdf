/** Changes of states, weights and shadow by an operator (docs/contract.md §12). */
import { type ProviderState, providerStates } from '../../domain/service.ts'
import { type ChangeOptions, type ChangeResult, changeOverrides, type OperationPorts, type Refusal, type Values } from './change.ts'
import type { OverrideKey } from './overrides.ts'
import { byTag, type RoutingSettings, type Shadow, stateKey } from './settings.ts'

const maxWeight = 1_000

export interface StateChange extends ChangeOptions {
  readonly provider: string
  /** A `ProviderState`; any other value is refused. */
  readonly state: unknown
}

export interface RoutingChange extends ChangeOptions {
  /** Weights by name; undefined: unchanged. */
  readonly weights?: unknown
  /** A `Shadow`, or null for none; undefined: unchanged. */
  readonly shadow?: unknown
}

export interface Reset extends ChangeOptions {
  /** A provider, `weights` or `shadow`; undefined: everything. */
  readonly name?: string | undefined
}

/** Sets a provider's state. */
export async function changeState(ports: OperationPorts, { provider, state, ...options }: StateChange): Promise<ChangeResult> {
  const tag = tagOf(ports.file, provider)
  if (tag === undefined) return unknownProvider(ports.file, provider)
  if (!isState(state)) return invalid(`state must be one of ${providerStates.join(', ')}`)
  return await changeOverrides(ports, new Map([[stateKey(tag), state]]), options)
}

/** Changes weights and shadow together, or neither. */
export async function changeRouting(ports: OperationPorts, change: RoutingChange): Promise<ChangeResult> {
  const { weights, shadow, ...options } = change
  const values = new Map<OverrideKey, unknown>()
  const fault =
    (weights === undefined ? undefined : faultInWeights(ports.file, weights)) ??
    (shadow === undefined ? undefined : faultInShadow(ports.file, shadow))
  if (fault !== undefined) return invalid(fault)
  if (weights !== undefined) values.set('weights', byTag(ports.file, weights))
  if (shadow !== undefined) values.set('shadow', byTag(ports.file, shadow))
  return await changeOverrides(ports, values, options)
}

/**
 * Removes overrides: the file's values apply again. A provider that the file lacks is named by its tag. What was suspended at the
 * account of a provider that is reset is offered again.
 */
export async function resetOverrides(ports: OperationPorts, { name, ...options }: Reset): Promise<ChangeResult> {
  const { file, overrides } = ports
  const keys = (await overrides.readAll()).map(({ key }) => key)
  const tag = name === undefined ? undefined : tagOf(file, name)
  const ofName = name === undefined ? keys : [tag === undefined ? (otherKey(name) ?? stateKey(name)) : stateKey(tag)]
  const isKnown = name === undefined || tag !== undefined || otherKey(name) !== undefined || keys.includes(stateKey(name))
  if (!isKnown) return unknownProvider(file, name)
  const account = file.providers.find((provider) => provider.tag === tag)?.account
  const resumed = file.providers.filter((provider) => name === undefined || provider.account === account)
  return await changeOverrides(ports, fileValues(ofName), options, new Map(resumed.map((one) => [one.tag, one.name])))
}

/** A provider may have this name too; then the provider is meant. */
function otherKey(name: string): OverrideKey | undefined {
  return name === 'weights' || name === 'shadow' ? name : undefined
}

function fileValues(keys: readonly OverrideKey[]): Values {
  return new Map(keys.map((key) => [key, undefined]))
}

function faultInWeights({ routing }: RoutingSettings, weights: unknown): string | undefined {
  if (routing.strategy !== 'weighted') return `weights are of no effect: routing.strategy is ${routing.strategy}`
  if (!isRecord(weights)) return 'weights must be a number for each provider'
  const names = Object.keys(weights)
  const missing = routing.providers.filter((name) => !names.includes(name))
  if (missing.length > 0) return `weights must name every routed provider: ${missing.join(', ')} is missing`
  const strange = names.find((name) => !routing.providers.includes(name))
  if (strange !== undefined) return `weights: ${strange} is not in routing.providers: ${routing.providers.join(', ')}`
  const values = Object.values(weights)
  if (!values.every(isWeight)) return `weights must be whole numbers from 0 to ${maxWeight}`
  return values.every((weight) => weight === 0) ? 'weights must not all be 0' : undefined
}

function isWeight(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxWeight
}

function faultInShadow(file: RoutingSettings, shadow: unknown): string | undefined {
  if (shadow === null) return undefined
  if (!isShadow(shadow)) return 'shadow must be a provider and a sample from 0 to 1'
  return tagOf(file, shadow.provider) === undefined ? unknownProvider(file, shadow.provider).message : undefined
}

function isShadow(value: unknown): value is Shadow {
  if (!isRecord(value) || Object.keys(value).toSorted().join() !== 'provider,sample') return false
  const { provider, sample } = value
  return typeof provider === 'string' && typeof sample === 'number' && sample >= 0 && sample <= 1
}

function isState(value: unknown): value is ProviderState {
  return providerStates.some((state) => state === value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
