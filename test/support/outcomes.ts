/** Creates of unknown outcome, and the time of their reconciliation. */

import type { RequestEnd } from '../../src/domain/observation.ts'
import type { ProviderA } from './form-a.ts'
import type { ProviderB } from './form-b.ts'
import type { StartedGateway } from './gateway.ts'
import { digits, readJson } from './json.ts'
import { byCode, byCoin, type Order, type Swap, swap } from './swaps.ts'

type Provider = ProviderA | ProviderB

/** From now on the provider creates, and breaks the connection instead of responding. */
export function loseResponses({ reply, holdings }: Provider, facts: Partial<Swap> = {}): void {
  reply('create', ({ body }) => {
    const made = orderedSwap(readJson(body) as Order, { id: `lost-${holdings.swaps.length + 1}`, ...facts })
    holdings.swaps = [...holdings.swaps, made]
    return { reset: true }
  })
}

/** What a provider makes of an order now. */
export function orderedSwap(order: Order, facts: Partial<Swap> = {}): Swap {
  const { coinFrom, coinTo, networkFrom, networkTo, amountTo, withdrawalAddress, refundAddress = null, rateType = 'float' } = order
  return swap({
    from: networkFrom === undefined ? byCode(coinFrom) : byCoin(coinFrom, networkFrom),
    to: networkTo === undefined ? byCode(coinTo) : byCoin(coinTo, networkTo),
    amountIn: order.amount ?? digits('0.10'),
    ...(amountTo && { amountOut: amountTo }),
    withdrawalAddress,
    refundAddress,
    rateType,
    createdAt: new Date().toISOString(),
    ...facts,
  })
}

/** All of them are looked for now, once. */
export async function lookNow({ ledger, ledgerAdmin, reconcile }: StartedGateway): Promise<void> {
  const open = (await ledgerAdmin.unresolved()).filter(({ state }) => state !== 'mismatch')
  for (const { intent } of open) await ledger.markUnknown(intent, Date.now())
  await reconcile()
}

export function outcomesOf({ observations }: StartedGateway): readonly string[] {
  return observations.filter((observation) => observation.what === 'create').map(({ outcome }) => outcome)
}

export function requestsOf({ observations }: StartedGateway): readonly RequestEnd[] {
  return observations.filter((observation) => observation.what === 'request')
}
