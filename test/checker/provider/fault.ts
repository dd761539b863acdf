/** What goes wrong with a request at a provider. Plain data, so that a provider in another process can be told. */

import type { AssetWords } from '../../support/swaps.ts'
import type { Swap } from '../order.ts'
import { known } from './form.ts'
import type { Operation } from './journal.ts'

/** A status, or: a reset, a FIN without an answer, half an answer, no answer ever, and a 200 that is not JSON. */
export type Ending = number | 'reset' | 'fin' | 'half' | 'hang' | 'garbage'

export interface Fault {
  /** Default: create. */
  readonly operation?: Operation
  /** Only requests that have this text in their path or body. */
  readonly having?: string
  /** How many requests; default 1. */
  readonly times?: number
  /** Ends the request so, and does nothing of what it asks. */
  readonly before?: Ending
  /** Does what it asks, and ends the request so. */
  readonly after?: Ending
  /** Message of an error. */
  readonly message?: string
  /** Milliseconds from doing it to the answer. */
  readonly delay?: number
  /** Tells another value for this than it holds. */
  readonly swap?: keyof typeof swaps
  /** Quotes this amount received. */
  readonly quotes?: string
  /** Gives a create this id, whoever has it. */
  readonly repeat?: string
}

/** The first fault that fits is used up; a request has at most one. */
export class Faults {
  private faults: { readonly fault: Fault; left: number }[] = []

  add(fault: Fault): void {
    this.faults.push({ fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.faults = []
  }

  take(operation: Operation, text: string): Fault {
    const found = this.faults.find(
      ({ fault, left }) => left > 0 && (fault.operation ?? 'create') === operation && text.includes(fault.having ?? ''),
    )
    if (found) found.left--
    return found?.fault ?? {}
  }
}

/** The swap with another value where a fault says so. */
export function swapped(swap: Swap, { swap: field }: Fault): Swap {
  return field === undefined ? swap : { ...swap, ...swaps[field](swap) }
}

const swaps = {
  coinFrom: ({ from }) => ({ from: otherCoin(from) }),
  coinTo: ({ to }) => ({ to: otherCoin(to) }),
  networkFrom: ({ from }) => ({ from: otherNetwork(from) }),
  networkTo: ({ to }) => ({ to: otherNetwork(to) }),
  withdrawalAddress: () => ({ withdrawalAddress: 'another-withdrawal-address' }),
  refundAddress: () => ({ refundAddress: 'another-refund-address' }),
  withdrawalExtraId: () => ({ withdrawalExtraId: '999999' }),
  refundExtraId: () => ({ refundExtraId: '999999' }),
  rateType: ({ rateType }) => ({ rateType: rateType === 'fixed' ? 'float' : 'fixed' }),
  amount: ({ amount }) => ({ amount: `1${amount}` }),
} satisfies Record<string, (swap: Swap) => Partial<Swap>>

function otherCoin(asset: AssetWords): AssetWords {
  return known.find(({ coin }) => coin !== asset.coin) as AssetWords
}

/** Of the same coin. */
function otherNetwork(asset: AssetWords): AssetWords {
  const other = known.find(({ coin, network }) => coin === asset.coin && network !== asset.network)
  return other ?? { ...asset, network: 'ANOTHER' }
}
