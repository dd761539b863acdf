/** A create whose response names no network is confirmed by a get before its result counts (docs/contract.md §3.3). */
import { Fault } from '../../domain/faults/fault.ts'
import { fold } from '../../domain/swap/asset.ts'
import type { Context, SwapService } from '../../domain/swap/service.ts'
import type { Pair, Transaction } from '../../domain/swap/swap.ts'
import type { Catalogue } from '../assets/catalogue.ts'
import { assetNameOf, from, type Side, to } from '../assets/pair.ts'
import { type Layer, onOperations } from '../layer.ts'
import { contradictionsOf } from './verify-response.ts'

export interface ConfirmNetworksOptions {
  readonly catalogue: Pick<Catalogue, 'naming' | 'lastListing'>
  /** `providers.<name>.networks`. False: the provider names no networks, and its silence is accepted. */
  readonly mustConfirm: boolean
}

/** Before each further get. A provider may know a transaction only a moment after it has created it. */
const pausesMs = [300, 1_000]
/** What a get adds where the response to the create is silent. */
const addedFields = ['refundAddress', 'depositExtraId', 'withdrawalExtraId', 'refundExtraId'] as const

/**
 * Adds the networks of coins that have several, and what else the response leaves out, from a get. Throws if it cannot be had: then
 * the outcome is unknown. Runs next to the provider, where asset names are its own.
 */
export function confirmNetworks({ catalogue, mustConfirm }: ConfirmNetworksOptions): Layer {
  if (!mustConfirm) return (next) => next
  return onOperations({
    async createTransaction(request, context, next) {
      const response = await next.call('createTransaction', request, context)
      const { body } = response
      const silent = [from, to].filter((side) => isSilent(body, side) && hasSeveralNetworks(context.pair ?? {}, side, catalogue))
      if (silent.length === 0 || contradictionsOf(request, body, catalogue.naming, context).length > 0) return response
      const details = await read(body.id, silent, context, next)
      const added = Object.fromEntries(addedFields.map((field) => [field, body[field] ?? details[field]]))
      const networks = Object.fromEntries(silent.map(({ network }) => [network, details[network]]))
      return { ...response, body: { ...body, ...added, ...networks } }
    },
  })
}

function isSilent(reported: Pair, side: Side): boolean {
  const { code, network } = assetNameOf(reported, side)
  return code === undefined && network === undefined
}

/** In the table, or in the provider's list. */
function hasSeveralNetworks(pair: Pair, side: Side, { naming, lastListing }: ConfirmNetworksOptions['catalogue']): boolean {
  const coin = pair[side.coin] ?? pair[side.code] ?? ''
  if ((naming.table.coin(coin)?.assets.length ?? 0) > 1) return true
  const offers = lastListing()?.offers ?? []
  const networks = offers.filter(({ row }) => fold(row.coin ?? '') === fold(coin)).map(({ row }) => fold(row.network ?? ''))
  return new Set(networks).size > 1
}

async function read(id: string, silent: readonly Side[], context: Context, service: SwapService): Promise<Transaction> {
  for (const pauseMs of [0, ...pausesMs]) {
    if (pauseMs > 0) {
      if (context.deadline - performance.now() < 2 * pauseMs) break
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    const response = await service.call('getTransaction', { id }, context).catch(() => undefined)
    if (response?.body.id === id && silent.every((side) => !isSilent(response.body, side))) return response.body
  }
  throw new Fault('unreadable', 'The provider does not say on which network its transaction is.')
}
