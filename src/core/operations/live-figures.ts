/** Counts of a provider, summed over the running processes. */

import type { BudgetPolicy } from '../../domain/observation.ts'
import { reservedForGatewayReads } from '../../domain/observation.ts'
import { percentile } from './histogram.ts'
import { latencyOf } from './provider-figures.ts'
import type { JudgementCounts, ProviderCounts, ReplicaFigures } from './replica-figures.ts'
import { type ShadowFigures, shadowFigures } from './shadow-report.ts'

/** Sums over all replicas for the last minute. */
export interface LiveFigures {
  readonly requests: number
  /** Share of the requests of all providers, from 0 to 1; null without requests. */
  readonly share: number | null
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null }
  readonly calls: number
  readonly failedCalls: number
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
  readonly shadow: ShadowFigures | null
}

interface CountedProvider {
  readonly tag: string
  readonly budget: Readonly<Record<BudgetPolicy, number>>
}

/** `isBudgetShared`: the remaining budget is the lowest of all replicas; otherwise their use is summed. */
export function liveFigures(
  { tag, budget }: CountedProvider,
  isBudgetShared: boolean,
  replicas: readonly ReplicaFigures[],
): LiveFigures {
  const all = replicas.flatMap(({ providers }) => providers)
  const own = all.filter(({ provider }) => provider === tag)
  const latency = own.map((counts) => counts.latency)
  const left = (policy: BudgetPolicy): number | null => budgetLeft(policy, budget[policy], isBudgetShared, own)
  const [requests, total] = [sum(own, 'requests'), sum(all, 'requests')]
  return {
    requests,
    share: total === 0 ? null : requests / total,
    latencyMs: { p50: percentile(latency, 0.5, latencyOf), p95: percentile(latency, 0.95, latencyOf) },
    calls: sum(own, 'calls'),
    failedCalls: sum(own, 'failedCalls'),
    breaker: worstBreakers(own),
    budgetLeft: { quotes: left('quotes'), create: left('create'), read: left('read') },
    listAgeSeconds: smallest(own.map(({ listAgeSeconds }) => listAgeSeconds)),
    assets: largest(own.map(({ assets }) => assets)),
    drift: sum(own, 'drift'),
    judgements: { refused: judged(own, 'refused'), counted: judged(own, 'counted') },
    quoteDeviation: meanDeviation(own),
    shadow: shadowFigures(
      tag,
      replicas.flatMap(({ shadow }) => shadow ?? []),
    ),
  }
}

function sum(counts: readonly ProviderCounts[], what: 'requests' | 'calls' | 'failedCalls' | 'drift'): number {
  return counts.reduce((total, one) => total + one[what], 0)
}

function judged(counts: readonly ProviderCounts[], outcome: keyof JudgementCounts): number {
  return counts.reduce((total, { judgements }) => total + (judgements?.[outcome] ?? 0), 0)
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
