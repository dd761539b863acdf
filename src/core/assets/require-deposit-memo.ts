/** Networks with shared deposit addresses: a deposit without its memo is lost (docs/contract.md §3.5). */
import { memoOf } from '../../domain/address/same-address.ts'
import { Fault } from '../../domain/faults/fault.ts'
import { type Asset, fold } from '../../domain/swap/asset.ts'
import { namesByCode } from '../../domain/swap/capabilities.ts'
import type { Context } from '../../domain/swap/service.ts'
import type { Pair, Transaction } from '../../domain/swap/swap.ts'
import { type Layer, onOperations } from '../layer.ts'
import { assetFromResponse } from './asset-from-response.ts'
import type { AssetName, AssetNaming } from './asset-naming.ts'
import { assetNameOf, from } from './pair.ts'

export interface RequireDepositMemoOptions {
  /** Names or aliases. */
  readonly networks: readonly string[]
  /** Whether the provider supports memos. */
  readonly acceptsMemos: boolean
  readonly naming: AssetNaming
}

/**
 * On these networks, a get or a row of a list without a memo has no deposit address. If the provider does not support memos,
 * coins from these networks are not offered. Runs where asset names are the provider's.
 */
export function requireDepositMemo({ networks, acceptsMemos, naming }: RequireDepositMemoOptions): Layer {
  if (networks.length === 0) return (next) => next
  const { isShared, mayBeShared } = findSharedNetworks(networks, naming)
  const refuseWithoutMemoSupport = ({ pair = {}, clientCapabilities: client }: Context): void => {
    if (!acceptsMemos && isShared(assetNameOf(pair, from))) throw notOffered(namesByCode(client) ? from.code : from.coin)
  }
  const withoutLostAddress = (row: Transaction): Transaction => {
    const assetName = assetNameOf(row, from)
    return lacksMemo(row) && mayBeShared(assetFromResponse(assetName, naming) ?? assetName)
      ? { ...row, depositAddress: undefined }
      : row
  }
  return onOperations({
    getRate(request, context, next) {
      refuseWithoutMemoSupport(context)
      return next.call('getRate', request, context)
    },
    async createTransaction(request, context, next) {
      refuseWithoutMemoSupport(context)
      return next.call('createTransaction', request, context)
    },
    async getTransaction(request, context, next) {
      const response = await next.call('getTransaction', request, context)
      const body = withoutLostAddress(response.body)
      return body === response.body ? response : { ...response, body, contradicted: ['depositExtraId'] }
    },
    async listTransactions(request, context, next) {
      const response = await next.call('listTransactions', request, context)
      return { ...response, body: { ...response.body, items: response.body.items.map(withoutLostAddress) } }
    },
  })
}

/** Whether the response of a create lacks the memo of its deposit address. `requested` has the table's asset names. */
export function lacksDepositMemo(
  networks: readonly string[],
  naming: AssetNaming,
): (created: Transaction, requested: Pair) => boolean {
  const { isShared } = findSharedNetworks(networks, naming)
  return (created, requested) => lacksMemo(created) && isShared(assetNameOf(requested, from))
}

function lacksMemo({ depositAddress, depositExtraId }: Transaction): boolean {
  return Boolean(depositAddress) && memoOf(depositAddress, depositExtraId) === undefined
}

interface SharedNetworks {
  /** True only if all possible networks of the asset are shared. */
  readonly isShared: (assetName: AssetName) => boolean
  /** Also true if the network is unknown and one of the coin's networks is shared. */
  readonly mayBeShared: (assetName: AssetName) => boolean
}

function findSharedNetworks(names: readonly string[], { table }: AssetNaming): SharedNetworks {
  const networks = new Set(names.map(fold))
  const isOnSharedNetwork = ({ network, aliases }: Asset): boolean => [network, ...aliases].some((name) => networks.has(fold(name)))
  const networksOf = ({ code, coin, network }: AssetName): readonly boolean[] => {
    const asset = code === undefined ? table.find(coin ?? '', network ?? '') : table.byCode(code)
    if (asset) return [isOnSharedNetwork(asset)]
    return network === undefined ? (table.coin(coin ?? '')?.assets ?? []).map(isOnSharedNetwork) : [networks.has(fold(network))]
  }
  return {
    isShared: (assetName) => {
      const each = networksOf(assetName)
      return each.length > 0 && each.every(Boolean)
    },
    mayBeShared: (assetName) => networksOf(assetName).some(Boolean),
  }
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here', { field, noEffect: true, reason: 'not_offered' })
}
