import type { Layer } from '../core/layer.ts'
import { shadow } from '../core/routing/shadow.ts'
import type { SharedParts } from './parts.ts'
import type { Routes } from './routes.ts'

/** Repeats some quotes at the provider of `routing.shadow`; empty without one that is active. */
export function shadowLayers({ candidate, active }: Routes, parts: SharedParts): readonly Layer[] {
  if (!candidate) return []
  const { config, shadowStatistics: statistics, observe } = parts
  const { tag, service, timeoutMs, catalogue, connected } = candidate
  const layer = shadow({
    candidate: { tag, service },
    needsClient: (query) => connected.needsAddress('getRate', query),
    sample: config.routing.shadow?.sample ?? 0,
    timeoutMs,
    table: config.assets,
    statistics,
    listings: () => ({
      routed: active.flatMap((provider) => provider.catalogue.lastListing() ?? []),
      candidate: catalogue.lastListing(),
    }),
    random: Math.random,
    observe,
  })
  return [layer]
}
