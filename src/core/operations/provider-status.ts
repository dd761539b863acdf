/** The current status of every provider, from the ledger and from the counts of the running processes (docs/contract-operators.md §12). */
import type { FailureCause } from '../../domain/failure-cause.ts'
import { toIso } from '../../domain/instant.ts'
import { type BudgetPolicy, type JudgementKind, reservedForGatewayReads } from '../../domain/observation.ts'
import type { ProviderState } from '../../domain/service.ts'
import { assetText, isSuspended, type MismatchStreak, type SuspensionStore, suspendedUntil } from '../mismatch-streaks.ts'
import type { LedgerAdmin, OpenCount } from '../ports/ledger-admin.ts'
import { bucketDeviation, type MirrorCounts } from '../routing/mirror.ts'
import {
  type BucketCounts,
  type JudgementCounts,
  latencyOf,
  type ProviderCounts,
  percentile,
  type ReplicaFigures,
  type ReplicaFiguresStore,
  totalOf,
} from './provider-figures.ts'
import {
  byName,
  inForce,
  isApplicable,
  keyByName,
  type Override,
  type OverrideStore,
  type SettingValue,
  stateKey,
} from './settings.ts'

/** Of a provider's form: what the operator earns, and by which word the provider knows the operator. */
type FormSettings = Readonly<Record<string, string>>

interface StatusSettings {
  readonly providers: readonly {
    readonly name: string
    readonly tag: string
    readonly account: string
    readonly form: string
    readonly state: ProviderState
    readonly rateLimit: Readonly<Record<BudgetPolicy, number>>
    readonly settings?: FormSettings
    readonly accountSettings?: Readonly<Record<string, FormSettings>>
  }[]
  readonly routing: {
    readonly strategy: string
    readonly providers: readonly string[]
    readonly weights?: Readonly<Record<string, number>> | undefined
    readonly mirror?: { readonly provider: string; readonly sample: number } | undefined
  }
  /** If set, budgets are shared, and the remaining calls are not summed over replicas. */
  readonly redis: { readonly url: string }
}

interface OverrideReport {
  readonly value: SettingValue
  readonly actor: string
  /** RFC 3339. */
  readonly since: string
}

/** An asset that is out of new swaps at every provider of the account (docs/contract-operators.md §10.3). */
interface SuspendedAsset {
  /** Of the mismatches. */
  readonly kind: JudgementKind
  /** The table's code of then; without one, coin and network. */
  readonly asset: string
  /** By the table; null if it lacks the asset. */
  readonly network: string | null
  /** RFC 3339, on the database's clock. */
  readonly since: string
  readonly until: string
}

export interface ProviderStatus {
  readonly name: string
  readonly tag: string
  /** Null if the file lacks the provider: its name is then its tag, and its state off. */
  readonly form: string | null
  readonly state: ProviderState
  /** When an operator set it, in RFC 3339; null if it is the file's value. */
  readonly since: string | null
  readonly override: OverrideReport | null
  /** Whether `routing.providers` has it. */
  readonly isRouted: boolean
  readonly weight: number | null
  /** Open transactions by status; `unknown` if the provider's status is not known. */
  readonly open: Readonly<Record<string, number>>
  readonly openTransactions: number
  /** Creates in progress, and creates with an unknown outcome. */
  readonly pendingCreates: number
  readonly unknownCreates: number
  /** As in the file; absent where there are none. */
  readonly settings?: FormSettings
  /** In their place, by account; absent where there are none. */
  readonly accountSettings?: Readonly<Record<string, FormSettings>>
  /** Newest first; none where the file lacks the provider. */
  readonly suspended: readonly SuspendedAsset[]
  /** Null if no gateway runs. */
  readonly live: LiveFigures | null
}

export interface StatusReport {
  readonly strategy: string
  readonly weights: Readonly<Record<string, number>> | null
  readonly mirror: { readonly provider: string; readonly sample: number } | null
  /** The earlier name of `mirror`. */
  readonly shadow: { readonly provider: string; readonly sample: number } | null
  /** `isAsleep`: of no effect while the file lacks the provider, or does not go by weights. */
  readonly overrides: readonly (OverrideReport & { readonly key: string; readonly isAsleep: boolean })[]
  readonly replicas: number
  /** Age of the oldest counts of a replica; null if no gateway runs. */
  readonly oldestSeconds: number | null
  readonly providers: readonly ProviderStatus[]
}

export interface StatusPorts {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
  readonly overrides: Pick<OverrideStore, 'read'>
  readonly suspensions: SuspensionStore
  readonly replicaFigures: Pick<ReplicaFiguresStore, 'read'>
}

/** Every provider by what is in force, if the file is that of the gateways. */
export async function providerStatus(file: StatusSettings, ports: StatusPorts): Promise<StatusReport> {
  const [stored, openCounts, streaks, replicas] = await Promise.all([
    ports.overrides.read(),
    ports.ledgerAdmin.openCounts(),
    ports.suspensions.read(),
    ports.replicaFigures.read(),
  ])
  const { applied, asleep, settings } = inForce(file, stored)
  const overrides = [...applied, ...asleep]
  const { strategy, weights, mirror } = settings.routing
  const oldestMs = Math.max(...replicas.map(({ ageMs }) => ageMs))
  return {
    strategy,
    weights: weights ?? null,
    mirror: mirror ?? null,
    shadow: mirror ?? null,
    overrides: overrides.map((override) => ({
      key: keyByName(settings, override.key),
      ...reportOf(override, settings),
      isAsleep: !isApplicable(settings, override),
    })),
    replicas: replicas.length,
    oldestSeconds: replicas.length === 0 ? null : Math.round(oldestMs / 1000),
    providers: [
      ...settings.providers.map((provider) => statusOf(provider, { settings, overrides, openCounts, streaks, replicas })),
      ...unconfiguredTags(settings, openCounts).map((tag) => statusOfUnconfigured(tag, openCounts)),
    ],
  }
}

/** Tags that the file lacks and that have something open, sorted. */
export function unconfiguredTags(
  { providers }: { readonly providers: readonly { readonly tag: string }[] },
  openCounts: readonly OpenCount[],
): readonly string[] {
  const configured = new Set(providers.map(({ tag }) => tag))
  return [...new Set(openCounts.map(({ provider }) => provider))].filter((tag) => !configured.has(tag)).toSorted()
}

type ProviderSettings = StatusSettings['providers'][number]

interface Sources {
  readonly settings: StatusSettings
  readonly overrides: readonly Override[]
  readonly openCounts: readonly OpenCount[]
  readonly streaks: readonly MismatchStreak[]
  readonly replicas: readonly ReplicaFigures[]
}

function statusOf(provider: ProviderSettings, { settings, overrides, openCounts, streaks, replicas }: Sources): ProviderStatus {
  const { name, tag, account, form, state, settings: own = {}, accountSettings = {} } = provider
  const tags = settings.providers.filter((other) => other.account === account).map((other) => other.tag)
  const override = overrides.find(({ key }) => key === stateKey(tag))
  return {
    name,
    tag,
    form,
    state,
    since: override ? toIso(override.since) : null,
    override: override ? reportOf(override, settings) : null,
    isRouted: settings.routing.providers.includes(name),
    weight: new Map(Object.entries(settings.routing.weights ?? {})).get(name) ?? null,
    ...(Object.keys(own).length > 0 && { settings: own }),
    ...(Object.keys(accountSettings).length > 0 && { accountSettings }),
    ...openAt(tag, openCounts),
    suspended: suspendedAt(tags, streaks),
    live: replicas.length === 0 ? null : liveFigures(provider, settings.redis.url !== '', replicas),
  }
}

function statusOfUnconfigured(tag: string, openCounts: readonly OpenCount[]): ProviderStatus {
  const nothing = { form: null, since: null, override: null, weight: null, suspended: [], live: null }
  return { name: tag, tag, state: 'off', isRouted: false, ...nothing, ...openAt(tag, openCounts) }
}

function suspendedAt(tags: readonly string[], streaks: readonly MismatchStreak[]): readonly SuspendedAsset[] {
  const own = streaks.filter((streak) => tags.includes(streak.provider) && isSuspended(streak))
  return own.flatMap(({ kind, asset, network = null, suspension }) =>
    suspension
      ? { kind, asset: assetText(asset), network, since: toIso(suspension.since), until: toIso(suspendedUntil(suspension.since)) }
      : [],
  )
}

function openAt(
  tag: string,
  openCounts: readonly OpenCount[],
): Pick<ProviderStatus, 'open' | 'openTransactions' | 'pendingCreates' | 'unknownCreates'> {
  const own = openCounts.filter(({ provider }) => provider === tag)
  const countOf = (which: OpenCount['state']): number =>
    own.filter(({ state }) => state === which).reduce((sum, { count }) => sum + count, 0)
  return {
    open: Object.fromEntries(own.filter((row) => row.state === 'done').map(({ status = 'unknown', count }) => [status, count])),
    openTransactions: countOf('done'),
    pendingCreates: countOf('pending'),
    unknownCreates: countOf('unknown'),
  }
}

function reportOf({ value, actor, since }: Override, settings: StatusSettings): OverrideReport {
  return { value: byName(settings, value), actor, since: toIso(since) }
}

// Counts of a provider, summed over the running processes.

/** Sums over all replicas for the last minute. */
interface LiveFigures {
  readonly requests: number
  /** Share of the new swaps at all providers, from 0 to 1; null without one. */
  readonly share: number | null
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null }
  readonly calls: number
  readonly failedCalls: number
  /** Why calls found no provider, or no response that can be read, with their number, most first. */
  readonly causes: Readonly<Partial<Record<FailureCause, number>>>
  /** Operations whose breaker is not closed in at least one replica, with the worst state. */
  readonly breaker: Readonly<Record<string, string>>
  /** Null: unlimited. */
  readonly budgetLeft: Readonly<Record<BudgetPolicy, number | null>>
  readonly listAgeSeconds: number | null
  readonly assets: number | null
  readonly drift: number
  readonly judgements: JudgementCounts
  /** Mean deviation of creates from the provider's newest quotes: -0.01 is one percent less; null without such creates. */
  readonly quoteDeviation: number | null
  readonly mirror: MirrorFigures | null
  /** The earlier name of `mirror`. */
  readonly shadow: MirrorFigures | null
}

interface CountedProvider {
  readonly tag: string
  readonly rateLimit: Readonly<Record<BudgetPolicy, number>>
}

/** `isBudgetShared`: the remaining budget is the lowest of all replicas; otherwise their use is summed. */
export function liveFigures(
  { tag, rateLimit }: CountedProvider,
  isBudgetShared: boolean,
  replicas: readonly ReplicaFigures[],
): LiveFigures {
  const all = replicas.flatMap(({ providers }) => providers)
  const own = all.filter(({ provider }) => provider === tag)
  const latency = own.map((counts) => counts.latency)
  const left = (policy: BudgetPolicy): number | null => budgetLeft(policy, rateLimit[policy], isBudgetShared, own)
  const mirror = mirrorFigures(
    tag,
    replicas.flatMap((replica) => replica.mirror ?? []),
  )
  const [creates, allCreates] = [sum(own, 'creates'), sum(all, 'creates')]
  return {
    requests: sum(own, 'requests'),
    share: allCreates === 0 ? null : creates / allCreates,
    latencyMs: { p50: percentile(latency, 0.5, latencyOf), p95: percentile(latency, 0.95, latencyOf) },
    calls: sum(own, 'calls'),
    failedCalls: sum(own, 'failedCalls'),
    causes: causesOf(own),
    breaker: worstBreakers(own),
    budgetLeft: { quotes: left('quotes'), create: left('create'), read: left('read') },
    listAgeSeconds: smallest(own.map(({ listAgeSeconds }) => listAgeSeconds)),
    assets: largest(own.map(({ assets }) => assets)),
    drift: sum(own, 'drift'),
    judgements: { refused: judged(own, 'refused'), counted: judged(own, 'counted') },
    quoteDeviation: meanDeviation(own),
    mirror,
    shadow: mirror,
  }
}

function sum(counts: readonly ProviderCounts[], what: 'requests' | 'creates' | 'calls' | 'failedCalls' | 'drift'): number {
  return counts.reduce((total, one) => total + one[what], 0)
}

function judged(counts: readonly ProviderCounts[], outcome: keyof JudgementCounts): number {
  return counts.reduce((total, { judgements }) => total + (judgements?.[outcome] ?? 0), 0)
}

function causesOf(counts: readonly ProviderCounts[]): LiveFigures['causes'] {
  const sums = new Map<string, number>()
  for (const [cause, count] of counts.flatMap(({ causes = {} }) => Object.entries(causes)))
    sums.set(cause, (sums.get(cause) ?? 0) + count)
  return Object.fromEntries([...sums].sort(([, one], [, other]) => other - one))
}

function meanDeviation(counts: readonly ProviderCounts[]): number | null {
  const sums = counts.flatMap(({ quoteDeviation }) => quoteDeviation ?? [])
  const creates = sums.reduce((total, one) => total + one.creates, 0)
  return creates === 0 ? null : sums.reduce((total, one) => total + one.sum, 0) / creates
}

/** Open is worse than half open. */
function worstBreakers(counts: readonly ProviderCounts[]): Record<string, string> {
  const worst = new Map<string, string>()
  for (const [operation, state] of counts.flatMap(({ breaker }) => Object.entries(breaker))) {
    if (worst.get(operation) !== 'open') worst.set(operation, state)
  }
  return Object.fromEntries(worst)
}

function smallest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** Null if the budget is unlimited. Without a shared store each process counts its own calls, so their use is summed. */
function budgetLeft(policy: BudgetPolicy, limit: number, isShared: boolean, counts: readonly ProviderCounts[]): number | null {
  if (limit === 0) return null
  const whole = limit - reservedForGatewayReads(policy, limit)
  const left = counts.map((one) => one.budgetLeft[policy] ?? whole)
  if (isShared) return Math.min(whole, ...left)
  return Math.max(0, whole - left.reduce((spent, one) => spent + whole - one, 0))
}

// The mirror's results over all replicas (docs/contract-operators.md §12).

/** A deviation is (candidate − served) ÷ served of the amount received: −0.01 is one percent less. */
interface DeviationFigures {
  readonly samples: number
  /** Null without samples. */
  readonly medianDeviation: number | null
  /** The deviation at the 95th percentile of their sizes, with its sign. */
  readonly p95Deviation: number | null
}

interface PairFigures extends DeviationFigures {
  readonly from: string
  readonly to: string
}

export interface MirrorFigures extends DeviationFigures {
  /** The tag of the candidate. */
  readonly provider: string
  /** Failed quotes of the candidate. */
  readonly errors: number
  /** Quoted pairs that the candidate does not offer. */
  readonly missingPairs: readonly { readonly from: string; readonly to: string }[]
  /** Codes of the table's assets that a routed provider lists and the candidate does not. */
  readonly missingAssets: readonly string[]
  readonly pairs: readonly PairFigures[]
}

/** Results of the replicas that mirror to this candidate; null if none does. */
export function mirrorFigures(provider: string, counts: readonly MirrorCounts[]): MirrorFigures | null {
  const own = counts.filter((one) => one.provider === provider)
  if (own.length === 0) return null
  const pairs = Map.groupBy(
    own.flatMap((one) => one.pairs),
    ({ from, to }) => JSON.stringify([from, to]),
  )
  const figures = [...pairs.values()].flatMap((same) => {
    const [first] = same
    const deviations = same.map((pair) => pair.deviations)
    return first && totalOf(deviations) > 0 ? [{ from: first.from, to: first.to, ...summary(deviations) }] : []
  })
  const missing = [...pairs.values()].filter((same) => same.some((pair) => pair.missing > 0))
  return {
    provider,
    ...summary(own.flatMap((one) => one.pairs.map(({ deviations }) => deviations))),
    errors: own.reduce((sum, { errors }) => sum + errors, 0),
    missingPairs: missing.flatMap(([pair]) => (pair ? [{ from: pair.from, to: pair.to }] : [])),
    missingAssets: [...new Set(own.flatMap(({ missingAssets }) => missingAssets))].sort(),
    pairs: figures.toSorted((one, other) => other.samples - one.samples),
  }
}

function summary(deviations: readonly BucketCounts[]): DeviationFigures {
  return {
    samples: totalOf(deviations),
    medianDeviation: percentile(deviations, 0.5, bucketDeviation),
    p95Deviation: percentile(deviations, 0.95, bucketDeviation, smallestFirst),
  }
}

/** By size; of two that are equally large, the one with less for the client comes last. */
function smallestFirst(one: number, other: number): number {
  return Math.abs(one) - Math.abs(other) || other - one
}
