/** What goes wrong with a request at a provider. Plain data, so that it can be sent to a provider in another process. */

import type { AssetWords } from '../../support/swaps.ts'
import type { Swap } from '../order.ts'
import { known } from './form.ts'
import type { Operation } from './journal.ts'

/** A status, or: a reset, a FIN without a response, half a response, no response ever, and a 200 that is not JSON. */
export type InjectedReply = number | 'reset' | 'fin' | 'half' | 'hang' | 'garbage'

export interface Fault {
  /** Default: create. */
  readonly operation?: Operation
  /** Only requests that have this text in their path or body. */
  readonly having?: string
  /** How many requests; default 1. */
  readonly times?: number
  /** Ends the request so, without an effect. */
  readonly before?: InjectedReply
  /** Carries out the request, and ends it so. */
  readonly after?: InjectedReply
  /** Message of an error. */
  readonly message?: string
  /** Milliseconds from the effect to the response. */
  readonly delay?: number
  /** The response waits until the provider is healed. */
  readonly held?: boolean
  /** Reports another value for this field than the stored one. */
  readonly swap?: keyof typeof swaps
  /** Quotes this amount received. */
  readonly quotes?: string
  /** Gives a create this id, also if another create has it. */
  readonly repeat?: string
}

/** The first fault that fits is used up; a request has at most one. */
export class Faults {
  private faults: { readonly fault: Fault; left: number }[] = []
  private cleared = Promise.withResolvers<void>()

  add(fault: Fault): void {
    this.faults.push({ fault, left: fault.times ?? 1 })
  }

  clear(): void {
    this.faults = []
    this.cleared.resolve()
    this.cleared = Promise.withResolvers()
  }

  untilCleared(): Promise<void> {
    return this.cleared.promise
  }

  take(operation: Operation, text: string): Fault {
    const found = this.faults.find(
      ({ fault, left }) => left > 0 && (fault.operation ?? 'create') === operation && text.includes(fault.having ?? ''),
    )
    if (found) found.left--
    return found?.fault ?? {}
  }
}

/** The swap, with another value if a fault sets it. */
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
