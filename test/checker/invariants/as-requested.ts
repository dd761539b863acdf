import { decimal } from '../decimal.ts'
import { createsByMark, type Evidence, effectsOf } from '../evidence.ts'
import type { Order, Swap } from '../order.ts'

/** I4: the created swap is the requested one, network and memo included, amounts equal as decimals. */
export function asRequested(evidence: Evidence): readonly string[] {
  const creates = createsByMark(evidence)
  return effectsOf(evidence).flatMap(({ id, swap, mark }) => {
    const wanted = creates.get(mark) ?? []
    return wanted.some(({ order }) => canonical(order) === canonical(order.wanted === undefined ? swap : byReceived(swap)))
      ? []
      : [`${id} is what no client requested: ${canonical(swap)}`]
  })
}

function byReceived(swap: Swap): Order {
  return { ...swap, wanted: swap.amountTo }
}

function canonical({ from, to, amount, wanted, ...order }: Order): string {
  const { withdrawalAddress, refundAddress, withdrawalExtraId, refundExtraId, rateType } = order
  return JSON.stringify({
    from: `${from.coin} on ${from.network}`,
    to: `${to.coin} on ${to.network}`,
    ...(wanted === undefined ? { amount: decimal(amount) } : { wanted: decimal(wanted) }),
    withdrawalAddress,
    refundAddress,
    withdrawalExtraId,
    refundExtraId,
    rateType,
  })
}
