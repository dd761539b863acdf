/** Finds changes that need `force` because of their consequences (docs/contract.md §12). */
import type { LedgerAdmin, OpenCount } from '../ledger-admin.ts'
import type { OverrideKey } from './overrides.ts'
import type { RoutingSettings } from './settings.ts'

interface Ports {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
}

/** The reason why the change needs `force`; undefined if it does not. */
export async function needsForce(
  ports: Ports,
  before: RoutingSettings,
  after: RoutingSettings,
  values: ReadonlyMap<OverrideKey, unknown>,
): Promise<string | undefined> {
  if (mayStop(values) && !hasTaker(after)) return 'this leaves no provider for new swaps'
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

/** Activating a provider and changing the shadow never stop anything. */
function mayStop(values: ReadonlyMap<OverrideKey, unknown>): boolean {
  return [...values].some(([key, value]) => key !== 'shadow' && value !== 'active')
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
