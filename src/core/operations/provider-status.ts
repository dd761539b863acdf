/** The current status of every provider, from the ledger and from the counts of the running processes (docs/contract.md §12). */

import type { BudgetPolicy, JudgementKind } from '../../domain/observation.ts'
import type { ProviderState } from '../../domain/service.ts'
import type { LedgerAdmin, OpenCount } from '../ledger-admin.ts'
import { assetText, isSuspended, type MismatchStreak, type SuspensionStore, suspendedUntil } from '../mismatch-streaks.ts'
import { type LiveFigures, liveFigures } from './live-figures.ts'
import type { Override, OverrideStore } from './overrides.ts'
import type { ReplicaFigures, ReplicaFiguresStore } from './replica-figures.ts'
import { byName, isApplicable, keyByName, stateKey } from './settings.ts'

export interface StatusSettings {
  readonly providers: readonly {
    readonly name: string
    readonly tag: string
    readonly account: string
    readonly form: string
    readonly state: ProviderState
    readonly budget: Readonly<Record<BudgetPolicy, number>>
  }[]
  readonly routing: {
    readonly strategy: string
    readonly providers: readonly string[]
    readonly weights?: Readonly<Record<string, number>> | undefined
    readonly shadow?: { readonly provider: string; readonly sample: number } | undefined
  }
  /** If set, budgets are shared, and the remaining calls are not summed over replicas. */
  readonly redis: { readonly url: string }
}

export interface OverrideReport {
  readonly value: unknown
  readonly actor: string
  /** RFC 3339. */
  readonly since: string
}

/** An asset that is out of new swaps at every provider of the account (docs/contract.md §10.3). */
export interface SuspendedAsset {
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
  /** Newest first; none where the file lacks the provider. */
  readonly suspended: readonly SuspendedAsset[]
  /** Null if no gateway runs. */
  readonly live: LiveFigures | null
}

export interface StatusReport {
  readonly strategy: string
  readonly weights: Readonly<Record<string, number>> | null
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

/** `settings`: the settings in effect, from the file and the valid overrides. */
export async function providerStatus(settings: StatusSettings, ports: StatusPorts): Promise<StatusReport> {
  const [overrides, openCounts, streaks, replicas] = await Promise.all([
    ports.overrides.read(),
    ports.ledgerAdmin.openCounts(),
    ports.suspensions.read(),
    ports.replicaFigures.read(),
  ])
  const { strategy, weights, shadow } = settings.routing
  const oldestMs = Math.max(...replicas.map(({ ageMs }) => ageMs))
  return {
    strategy,
    weights: weights ?? null,
    shadow: shadow ?? null,
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
  const { name, tag, account, form, state } = provider
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

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
