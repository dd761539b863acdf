/** Converts a swap to a transaction of the service. */
import type { Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import { zero } from './market/decimal.ts'
import { isWithin, received } from './market/market.ts'
import { type Digest, networkOf, transactionHash } from './market/network.ts'
import type { Swap } from './store.ts'
import type { Stage } from './timeline.ts'

const isPaidOut: ReadonlySet<Status> = new Set<Status>(['sending', 'success'])

/** The amounts are those of the deposit, once there is one; in both manners of naming, so that any form can show it. */
export function toTransaction(swap: Swap, { status, since, deposit }: Stage, digest: Digest): Transaction {
  const { owner: _, deposit: _stored, minAmount: _least, maxAmount: _most, fee: _fee, ...fields } = swap
  const amountIn = deposit?.amount ?? swap.amountIn
  return {
    ...fields,
    status,
    amountIn,
    amountOut: isWithin(amountIn, swap) ? received(amountIn, swap, swap.coinTo) : zero,
    txHashIn: deposit && transactionHash(networkOf(swap.networkFrom), 'deposit', swap.id, digest),
    txHashOut: isPaidOut.has(status) ? transactionHash(networkOf(swap.networkTo), 'payout', swap.id, digest) : undefined,
    createdAt: timestamp(swap.createdAt),
    updatedAt: timestamp(since),
  }
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
