/** The current status of every provider, from the ledger and from the counts of the running processes (docs/contract.md §12). */
import type { ProviderState } from '../../domain/swap/provider-state.ts'
import type { BudgetPolicy } from '../../domain/telemetry/labels.ts'
import type { LedgerAdmin, OpenCount } from '../ledger-admin.ts'
import { type LiveFigures, liveFigures } from './live-figures.ts'
import type { Override, OverrideStore } from './overrides.ts'
import type { ReplicaFigures, ReplicaFiguresStore } from './replica-figures.ts'

export interface StatusSettings {
  readonly providers: readonly {
    readonly name: string
    readonly tag: string
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

export interface ProviderStatus {
  readonly name: string
  readonly tag: string
  readonly form: string
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
  /** Null if no gateway runs. */
  readonly live: LiveFigures | null
}

export interface StatusReport {
  readonly strategy: string
  readonly weights: Readonly<Record<string, number>> | null
  readonly shadow: { readonly provider: string; readonly sample: number } | null
  readonly overrides: readonly (OverrideReport & { readonly key: string })[]
  readonly replicas: number
  /** Age of the oldest counts of a replica; null if no gateway runs. */
  readonly oldestSeconds: number | null
  readonly providers: readonly ProviderStatus[]
}

export interface StatusPorts {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
  readonly overrides: Pick<OverrideStore, 'read'>
  readonly replicaFigures: Pick<ReplicaFiguresStore, 'read'>
}

/** `settings`: the settings in effect, from the file and the valid overrides. */
export async function providerStatus(settings: StatusSettings, ports: StatusPorts): Promise<StatusReport> {
  const [overrides, openCounts, replicas] = await Promise.all([
    ports.overrides.read(),
    ports.ledgerAdmin.openCounts(),
    ports.replicaFigures.read(),
  ])
  const { strategy, weights, shadow } = settings.routing
  const oldestMs = Math.max(...replicas.map(({ ageMs }) => ageMs))
  return {
    strategy,
    weights: weights ?? null,
    shadow: shadow ?? null,
    overrides: overrides.map((override) => ({ key: override.key, ...reportOf(override) })),
    replicas: replicas.length,
    oldestSeconds: replicas.length === 0 ? null : Math.round(oldestMs / 1000),
    providers: settings.providers.map((provider) => statusOf(provider, { settings, overrides, openCounts, replicas })),
  }
}

type ProviderSettings = StatusSettings['providers'][number]

interface Sources {
  readonly settings: StatusSettings
  readonly overrides: readonly Override[]
  readonly openCounts: readonly OpenCount[]
  readonly replicas: readonly ReplicaFigures[]
}

function statusOf(provider: ProviderSettings, { settings, overrides, openCounts, replicas }: Sources): ProviderStatus {
  const { name, tag, form, state } = provider
  const override = overrides.find(({ key }) => key === `state:${name}`)
  const own = openCounts.filter((count) => count.provider === tag)
  const countOf = (which: OpenCount['state']): number =>
    own.filter(({ state: of }) => of === which).reduce((sum, { count }) => sum + count, 0)
  return {
    name,
    tag,
    form,
    state,
    since: override ? toIso(override.since) : null,
    override: override ? reportOf(override) : null,
    isRouted: settings.routing.providers.includes(name),
    weight: new Map(Object.entries(settings.routing.weights ?? {})).get(name) ?? null,
    open: Object.fromEntries(own.filter((row) => row.state === 'done').map(({ status = 'unknown', count }) => [status, count])),
    openTransactions: countOf('done'),
    pendingCreates: countOf('pending'),
    unknownCreates: countOf('unknown'),
    live: replicas.length === 0 ? null : liveFigures(provider, settings.redis.url !== '', replicas),
  }
}

function reportOf({ value, actor, since }: Override): OverrideReport {
  return { value, actor, since: toIso(since) }
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
